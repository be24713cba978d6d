// A checkpoint as the tree lists it. Its values are read when it is selected.
import type { ThreadState } from '@svc/sdk';
import { visibleText } from '../ui/visible-text.ts';

export const rowFields = [
  'checkpoint_id',
  'parent_checkpoint_id',
  'metadata.source',
  'metadata.step',
  'metadata.run_id',
  'nodes',
  'created_at',
  'next',
  'interrupts',
] as const;

export type CheckpointRow = Pick<
  ThreadState,
  'checkpoint_id' | 'parent_checkpoint_id' | 'metadata' | 'nodes' | 'created_at' | 'next' | 'interrupts'
>;

export type RowsById = ReadonlyMap<string | null, CheckpointRow>;

/** `start` is the engine's node that takes over the input. */
export const nodeLabel = (node: string): string => (node === '__start__' ? 'start' : visibleText(node));

export const stepOf = ({ metadata: { step } }: CheckpointRow): string =>
  typeof step === 'number' ? String(step) : '';

/** The nodes of the step, also those that wrote nothing: the checkpoint before it has planned them. Otherwise where the checkpoint comes from. */
export const nameOf = (
  { metadata: { source }, nodes = [] }: CheckpointRow,
  parent: CheckpointRow | undefined,
): string => {
  const planned = parent?.next ?? [];
  const names = [...new Set([...nodes, ...planned])].map(nodeLabel);
  const from = typeof source === 'string' ? source : '';
  return source === 'loop' && names.length > 0 ? names.join(', ') : visibleText(from);
};

/** The checkpoint has the input of a run, which no node has read yet. */
export const hasInput = ({ metadata: { source }, nodes = [] }: CheckpointRow): boolean =>
  source === 'input' && nodes.includes('__start__');

/** The run whose input the checkpoint has. Each run of a thread can have one. */
export const runOfInput = ({ metadata }: CheckpointRow): string | undefined => {
  const { source, run_id: runId } = metadata;
  return source === 'input' && typeof runId === 'string' ? runId : undefined;
};

/** The run that created the checkpoint, or the nearest one before it: a state update has no run. */
export const runIdOf = (row: CheckpointRow, rows: RowsById): string | undefined => {
  for (let at: CheckpointRow | undefined = row; at !== undefined; at = rows.get(at.parent_checkpoint_id)) {
    const { run_id: runId } = at.metadata;
    if (typeof runId === 'string') return runId;
  }
  return undefined;
};

/** The last checkpoints of runs that failed: the nodes that come next have failed. `newestFirst`: as the tree lists them. */
export const failedRows = <Row extends Pick<CheckpointRow, 'metadata' | 'next'>>(
  newestFirst: readonly Row[],
  failedRuns: readonly { run_id?: string }[],
): Set<Row> => {
  const wanted = new Set<unknown>(failedRuns.map(({ run_id: id }) => id));
  return new Set(
    // A run has its newest checkpoint before its others.
    newestFirst.filter(({ metadata, next }) => wanted.delete(metadata['run_id']) && next.length > 0),
  );
};
