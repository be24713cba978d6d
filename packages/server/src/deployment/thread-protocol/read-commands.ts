// Commands that read: agent.getTree, state.get and state.listCheckpoints.
import type { commandParams } from '@svc/contract';
import type { z } from 'zod';
import { textOf } from '../../parsing/json-bytes.ts';
import type { RunStorage } from '../../storage/deployment/runs/runs.ts';
import type { SubgraphStorage, SubgraphRow } from '../../storage/deployment/checkpoints/subgraphs.ts';
import type { ThreadStorage } from '../../storage/deployment/threads/threads.ts';
import type { RowFilter } from '../../storage/postgres/row-filter.ts';
import type { StateService } from '../threads/state-service.ts';
import { CommandError } from './command-error.ts';
import { normalState } from './translation/state-json.ts';

export interface ReadCommandParts {
  states: Pick<StateService, 'get' | 'history'>;
  storage: {
    runs: Pick<RunStorage, 'find' | 'findCurrent'>;
    threads: Pick<ThreadStorage, 'find'>;
    subgraphs: SubgraphStorage;
  };
}

type Params<M extends keyof typeof commandParams> = z.output<(typeof commandParams)[M]>;

interface State {
  values: unknown;
  /** Has no `checkpoint_id` when there is no state. */
  checkpoint: { checkpoint_id?: string | null; checkpoint_ns?: string } | null;
  metadata?: { step?: number } & Record<string, unknown>;
  created_at?: string | null;
}

const checkpointsDefault = 10;
const subgraphsMax = 1_000;

export class ReadCommands {
  readonly #parts: ReadCommandParts;

  constructor(parts: ReadCommandParts) {
    this.#parts = parts;
  }

  /** The tree of a run. Without `run_id`, the tree of the thread; its root is then the current run, or else the newest. */
  async tree(thread_id: string, { run_id }: Params<'agent.getTree'>, access: RowFilter): Promise<object> {
    const { runs, threads, subgraphs } = this.#parts.storage;
    const thread = await threads.find(thread_id, access);
    if (!thread) throw new CommandError('invalid_argument', `Thread ${thread_id} not found`);
    const current = await runs.findCurrent(thread_id, access);
    const run = run_id === undefined ? current : await runs.find(run_id, thread_id, access);
    if (!run)
      throw new CommandError('no_such_run', run_id ? `Run ${run_id} not found` : 'The thread has no runs');
    const isNewest = run.run_id === current?.run_id;
    const status =
      run.status === 'success' && isNewest && thread.status === 'interrupted'
        ? 'interrupted'
        : statusOfRun(run.status);
    const { graph_id } = thread.metadata;
    const root = {
      namespace: [],
      status,
      graph_name: typeof graph_id === 'string' ? graph_id : '',
      metadata: { run_id: run.run_id },
    };
    return {
      tree: graphTree(root, await subgraphs.list(thread_id, run_id ?? undefined, subgraphsMax, access)),
    };
  }

  async state(
    thread_id: string,
    { namespace = [], keys }: Params<'state.get'>,
    access: RowFilter,
  ): Promise<object> {
    const select = ['checkpoint', ...(keys?.map((key) => `values.${key}`) ?? ['values'])];
    const at = { checkpoint_ns: namespace.join('|') };
    const text = textOf(await this.#parts.states.get(thread_id, at, access, { select }));
    const { values, checkpoint } = JSON.parse(text) as State;
    const id = checkpoint?.checkpoint_id ?? undefined;
    if (id === undefined && namespace.length > 0)
      throw new CommandError('no_such_namespace', `No state found for ${namespace.join('|')}`);
    const ns = checkpoint?.checkpoint_ns;
    return {
      values: normalState(values) ?? {},
      ...(id === undefined ? {} : { checkpoint: { id, ...(ns ? { ns } : {}) } }),
    };
  }

  async checkpoints(
    thread_id: string,
    { namespace = [], limit = checkpointsDefault, before }: Params<'state.listCheckpoints'>,
    access: RowFilter,
  ): Promise<object> {
    const checkpoint = { checkpoint_ns: namespace.join('|') };
    const select = ['checkpoint', 'metadata', 'created_at'];
    const page = await this.#parts.states.history(thread_id, { limit, before, checkpoint, select }, access);
    const states = page.rows.map((row) => JSON.parse(textOf(row)) as State);
    return {
      checkpoints: states.map(({ checkpoint: at, metadata, created_at }) => ({
        id: at?.checkpoint_id,
        timestamp: created_at,
        step: metadata?.step,
        metadata,
      })),
    };
  }
}

// The tree of agent.getTree: the root graph and the subgraphs that have checkpoints.
export interface GraphNode {
  namespace: string[];
  status: string;
  graph_name: string;
  children?: GraphNode[];
  metadata?: { run_id: string };
}

const runStatuses = {
  pending: 'started',
  running: 'running',
  success: 'completed',
  error: 'failed',
  timeout: 'failed',
  interrupted: 'interrupted',
} as const;

/** The status of a run, as the protocol names it. */
export const statusOfRun = (status: keyof typeof runStatuses): string => runStatuses[status];

/** A subgraph without remaining tasks has completed. Otherwise it has the status of its run; it is interrupted if the run succeeded or was deleted. */
const statusOf = ({ has_tasks, run_status }: SubgraphRow): string => {
  if (!has_tasks) return 'completed';
  const status = run_status === null ? 'interrupted' : statusOfRun(run_status);
  return status === 'completed' ? 'interrupted' : status;
};

/** Adds the subgraphs to the root. If the parent of a subgraph has no checkpoints, the nearest ancestor with checkpoints becomes its parent. */
export const graphTree = (root: GraphNode, subgraphs: readonly SubgraphRow[]): GraphNode => {
  const nodes = new Map([['', root]]);
  for (const row of subgraphs) {
    const namespace = row.checkpoint_ns.split('|');
    nodes.set(row.checkpoint_ns, {
      namespace,
      status: statusOf(row),
      graph_name: nameOf(namespace),
      ...(row.run_id === null ? {} : { metadata: { run_id: row.run_id } }),
    });
  }
  for (const [name, node] of nodes) {
    if (node === root) continue;
    const parent = parentOf(name, nodes);
    (parent.children ??= []).push(node);
  }
  return root;
};

const parentOf = (name: string, nodes: ReadonlyMap<string, GraphNode>): GraphNode => {
  const end = name.lastIndexOf('|');
  const above = end < 0 ? '' : name.slice(0, end);
  const parent = nodes.get(above);
  return parent ?? parentOf(above, nodes);
};

/** The name of the node that executes the subgraph. A segment of a namespace is `node:task`, or a number for another subgraph of the same task. */
const nameOf = (namespace: readonly string[]): string => {
  const segment = namespace.findLast((one) => one.includes(':')) ?? namespace.at(-1) ?? '';
  return segment.split(':', 1)[0] ?? '';
};
