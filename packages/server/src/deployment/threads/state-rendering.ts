// Renders states as JSON text from checkpoints and their blobs. No graph is loaded and nothing is recomputed; values stay in wire form.
// Large states are rendered in a parser thread, so this file has few imports.
import { checkpointTimeMs } from '../../engine/checkpoints/checkpoint-ids.ts';
import {
  type CheckpointSummary,
  isInternalChannel,
  type NodeWrite,
  summaryOf,
  type SummaryTask,
  usualPath,
} from '../../engine/checkpoints/checkpoint-summary.ts';
import { type StoredBlob, hashesOf } from '../../engine/codec/blob.ts';
import { damaged } from '../../engine/codec/codec-error.ts';
import { joinPartly } from '../../engine/codec/partial-wire.ts';
import { joinWire } from '../../engine/codec/wire.ts';
import { type AddText, WireTexts } from '../../engine/codec/wire-text.ts';
import type { JsonBytes } from '../../parsing/json-bytes.ts';
import type {
  BlobRow,
  StoredCheckpoint,
  StoredWrite,
} from '../../storage/deployment/checkpoints/checkpoint-rows.ts';
import type { StateAt } from '../../storage/deployment/checkpoints/recorded-state.ts';
import { contains } from './contains.ts';
import { type ExtractPath, partAt } from './extract-paths.ts';
import { hasMetadata, type StateField, type StateSelection, valuesOnly } from './state-selection.ts';
import { type Missing, missingFor, pageAt, type ValueRequest } from './state-value.ts';

type Join = (ref: string) => unknown;

/** The blobs of a request, as values and as JSON text. */
interface Reader {
  join: Join;
  /** With `Unread` for the blobs of elements and members that are not among these. */
  joinPartly: Join;
  texts: WireTexts;
}

type Values = Record<string, unknown>;

/** A checkpoint with the checkpoints of its pending subgraphs, by namespace. */
export interface StateTree extends StateAt {
  inner?: Record<string, StateTree>;
}

/** The columns of a checkpoint from which its values are built. */
export type StoredValues = Pick<StoredCheckpoint['checkpoint'], 'channels' | 'shape'>;

export interface RenderInput {
  blobs: BlobRow[];
  /** `states`: complete states. `values`: only the values. */
  states?: StateTree[];
  values?: StoredValues[];
  selection: StateSelection;
  /** Limit for all texts together: rendering stops after the text that exceeds it. */
  bytesMax: number;
}

const channelsOf = ({ channels }: Pick<StoredValues, 'channels'>): Record<string, string> =>
  JSON.parse(channels) as Record<string, string>;
const wroteOf = (stored: StoredCheckpoint): NodeWrite[] =>
  JSON.parse(stored.checkpoint.wrote ?? '[]') as NodeWrite[];

/** The names of the state's channels; a single string when the state is the value of one channel. */
const keysOf = (stored: StoredValues, { keys: wanted }: StateSelection): string[] | string => {
  const keys =
    summaryOf(stored)?.keys ??
    Object.keys(channelsOf(stored)).filter((channel) => !isInternalChannel(channel));
  if (typeof keys === 'string' || wanted === undefined) return keys;
  return keys.filter((key) => wanted.includes(key));
};

/** Hashes of the blobs of the values. */
export const hashesOfValues = (stored: StoredValues, selection: StateSelection): string[] => {
  const channels = channelsOf(stored);
  return [keysOf(stored, selection)].flat().flatMap((key) => hashesOf(channels[key] ?? ''));
};

/** Hashes of the blobs of the selected parts of a state. */
export const hashesOfState = (tree: StateTree, selection: StateSelection): string[] => {
  const { stored, inner = {} } = tree;
  const has = (...fields: StateField[]): boolean => fields.some((field) => selection.fields.includes(field));
  const refs = [
    ...(hasMetadata(selection, 'writes')
      ? [...wroteOf(stored).map(([, , ref]) => ref), channelsOf(stored.checkpoint)['__start__'] ?? '']
      : []),
    ...(has('tasks', 'interrupts') ? stored.writes.map(({ ref }) => ref) : []),
  ];
  return [
    ...(has('values') ? hashesOfValues(stored.checkpoint, selection) : []),
    ...refs.flatMap((ref) => hashesOf(ref)),
    ...Object.values(inner).flatMap((one) => hashesOfState(one, selection)),
  ];
};

const readerOf = (blobs: BlobRow[]): Reader => {
  const byHash = new Map<string, StoredBlob>();
  for (const { hash, refs, payload } of blobs) byHash.set(hash, { refs, payload });
  const lookup = (hash: string) => byHash.get(hash);
  return {
    join: (ref) => joinWire(ref, lookup),
    joinPartly: (ref) => joinPartly(ref, lookup),
    texts: new WireTexts(lookup),
  };
};

/** One text per item, as `collect` makes it from its pieces, in order; fewer when they exceed `bytesMax`. */
export const render = <T extends { length: number }>(
  { blobs, states, values, selection, bytesMax }: RenderInput,
  collect: (write: (add: AddText) => void) => T,
): T[] => {
  const reader = readerOf(blobs);
  const texts: T[] = [];
  let left = bytesMax;
  const add = (write: (add: AddText) => void): boolean => {
    const text = collect(write);
    left -= text.length;
    if (left < 0 && texts.length > 0) return false;
    texts.push(text);
    return left > 0;
  };
  for (const one of values ?? [])
    if (!add((piece) => writeValues(one, selection, reader.texts, piece))) return texts;
  for (const one of states ?? [])
    if (!add((piece) => writeState(one, selection, reader, piece))) return texts;
  return texts;
};

/** Tasks of parser threads. */
export interface StateTasks {
  /** States as JSON. */
  states: { input: RenderInput; question: never; output: JsonBytes[] };
  /** For each item, the parts of its values at the paths, as JSON texts. */
  extract: { input: ExtractInput; question: never; output: string[][] };
  /** Tells for each item whether its values contain `wanted`. */
  match: { input: MatchInput; question: never; output: boolean[] };
  /** What a page needs besides the blobs that were read. */
  missing: { input: ValueInput; question: never; output: Missing };
  /** A page of a value, as JSON text; undefined when there is nothing at the path. */
  value: { input: ValueInput; question: never; output: string | undefined };
}

export interface ValueInput {
  blobs: BlobRow[];
  checkpoint: StoredValues & Pick<StoredCheckpoint['checkpoint'], 'checkpoint_id'>;
  /** Names of the values that are read; all of them when undefined. */
  keys: readonly string[] | undefined;
  request: ValueRequest;
}

const partsOf = ({ blobs, checkpoint, keys }: ValueInput): unknown =>
  valuesOf(checkpoint, valuesOnly(keys), readerOf(blobs).joinPartly);

/** What is to be read before `readValue`. */
export const missingOf = (input: ValueInput): Missing => missingFor(partsOf(input), input.request);

export const readValue = (input: ValueInput): string | undefined => {
  const { request, checkpoint } = input;
  const values = partsOf(input);
  const { at, entries } = missingFor(values, request);
  const missing = at ?? entries[0];
  if (missing !== undefined) throw damaged(`blob ${missing} is missing`);
  return pageAt(values, request, checkpoint.checkpoint_id);
};

export interface ExtractInput {
  blobs: BlobRow[];
  values: StoredValues[];
  /** Names of the values that the paths begin with. */
  keys: readonly string[] | undefined;
  paths: readonly ExtractPath['steps'][];
}

export const extract = ({ blobs, values, keys, paths }: ExtractInput): string[][] => {
  const { join } = readerOf(blobs);
  const selection: StateSelection = { fields: ['values'], keys };
  return values.map((one) => {
    const whole = valuesOf(one, selection, join);
    return paths.map((steps) => JSON.stringify(partAt(whole, steps)));
  });
};

export interface MatchInput {
  blobs: BlobRow[];
  values: StoredValues[];
  wanted: Values;
}

/** Which of the values contain what is wanted. */
export const match = ({ blobs, values, wanted }: MatchInput): boolean[] => {
  const { join } = readerOf(blobs);
  const selection: StateSelection = { fields: ['values'], keys: Object.keys(wanted) };
  return values.map((one) => contains(valuesOf(one, selection, join), wanted));
};

const valuesOf = (stored: StoredValues, selection: StateSelection, join: Join): unknown => {
  const channels = channelsOf(stored);
  const keys = keysOf(stored, selection);
  if (typeof keys === 'string') return channels[keys] === undefined ? {} : (join(channels[keys]) ?? null);
  const values: Values = {};
  for (const key of keys) {
    const ref = channels[key];
    const value = ref === undefined ? undefined : join(ref);
    if (value !== undefined) values[key] = value;
  }
  return values;
};

const writeValues = (
  stored: StoredValues,
  selection: StateSelection,
  texts: WireTexts,
  add: AddText,
): void => {
  const channels = channelsOf(stored);
  const keys = keysOf(stored, selection);
  if (typeof keys === 'string') {
    if (channels[keys] === undefined) add('{}');
    else if (!texts.write(channels[keys], add)) add('null');
    return;
  }
  let before = '{';
  for (const key of keys) {
    const ref = channels[key];
    if (ref === undefined) continue;
    if (texts.write(ref, add, `${before}${JSON.stringify(key)}:`)) before = ',';
  }
  add(before === '{' ? '{}' : '}');
};

/** The values are most of a state: they are written as text, the other fields as values. */
const writeState = (
  tree: StateTree,
  selection: StateSelection,
  { join, texts }: Reader,
  add: AddText,
): void => {
  const makers = fieldsOf(tree, selection, join);
  let before = '{';
  for (const field of selection.fields) {
    add(`${before}${JSON.stringify(field)}:`);
    if (field === 'values') writeValues(tree.stored.checkpoint, selection, texts, add);
    else add(JSON.stringify(makers[field]()) ?? 'null');
    before = ',';
  }
  add(before === '{' ? '{}' : '}');
};

const toState = (tree: StateTree, selection: StateSelection, join: Join): Values => {
  const makers = fieldsOf(tree, selection, join);
  return Object.fromEntries(selection.fields.map((field) => [field, makers[field]()]));
};

const fieldsOf = (
  tree: StateTree,
  selection: StateSelection,
  join: Join,
): Record<StateField, () => unknown> => {
  const { stored } = tree;
  const { thread_id, checkpoint_ns, checkpoint_id, parent_id, run_id, metadata, body } = stored.checkpoint;
  const at = (id: string) => ({ checkpoint_id: id, thread_id, checkpoint_ns });
  const { keys, tasks: taskLayout } = summaryOf(stored.checkpoint) ?? { tasks: [] };
  const tasks = (): Values[] => taskLayout.map((task) => toTask(task, { ...tree, keys }, selection, join));
  return {
    values: () => valuesOf(stored.checkpoint, selection, join),
    next: () => tree.next ?? taskLayout.map(({ name }) => name),
    tasks,
    interrupts: () => tasks().flatMap(({ interrupts }) => interrupts),
    metadata: () =>
      selectedMetadata(
        {
          parents: {},
          ...(JSON.parse(metadata) as Values),
          thread_id,
          checkpoint_id,
          ...(run_id === null ? {} : { run_id }),
          ...(hasMetadata(selection, 'writes') ? { writes: writesOf(stored, join) } : {}),
        },
        selection,
      ),
    nodes: () => nodesOf(stored),
    created_at: () => createdAt(checkpoint_id, body),
    checkpoint: () => at(checkpoint_id),
    parent_checkpoint: () => (parent_id === null ? null : at(parent_id)),
    checkpoint_id: () => checkpoint_id,
    parent_checkpoint_id: () => parent_id,
  };
};

/** The time that events of the thread protocol have too. `ts` is a little later: clients would ignore events after the checkpoint as older. */
const createdAt = (checkpoint_id: string, body: string): string => {
  const ms = checkpointTimeMs(checkpoint_id);
  return ms === undefined ? (JSON.parse(body) as { ts: string }).ts : new Date(ms).toISOString();
};

/** The writes of each node that led to this checkpoint; for an input, `__start__` with the input. */
const writesOf = (stored: StoredCheckpoint, join: Join): Values | null => {
  const writes: Values = {};
  for (const [node, channel, ref] of wroteOf(stored)) {
    if (channel === null) writes[node] = join(ref);
    else writes[node] = { ...(writes[node] as Values | undefined), [channel]: join(ref) };
  }
  const input = channelsOf(stored.checkpoint)['__start__'];
  if (Object.keys(writes).length === 0 && input !== undefined) writes['__start__'] = join(input);
  return Object.keys(writes).length === 0 ? null : writes;
};

const selectedMetadata = (metadata: Values, { metadataKeys }: StateSelection): Values =>
  metadataKeys === undefined
    ? metadata
    : Object.fromEntries(Object.entries(metadata).filter(([key]) => metadataKeys.includes(key)));

/** The names that `writesOf` has, without what they have written. */
const nodesOf = (stored: StoredCheckpoint): string[] => {
  const nodes = [...new Set(wroteOf(stored).map(([node]) => node))];
  const hasInput = channelsOf(stored.checkpoint)['__start__'] !== undefined;
  return nodes.length === 0 && hasInput ? ['__start__'] : nodes;
};

/** A task with its error, interrupts or result so far. `keys`: those of the summary of the checkpoint. */
const toTask = (
  task: SummaryTask,
  { stored, inner = {}, keys }: StateTree & Pick<CheckpointSummary, 'keys'>,
  selection: StateSelection,
  join: Join,
): Values => {
  const { id, name, path = usualPath(name), ns } = task;
  const own = stored.writes.filter((write) => write.task_id === id);
  const error = own.find((write) => write.channel === '__error__');
  const interrupts = own
    .filter((write) => write.channel === '__interrupt__')
    .flatMap((write) => [join(write.ref)].flat());
  const within = ns === undefined ? undefined : inner[ns];
  return {
    id,
    name,
    path,
    error: error ? messageOf(join(error.ref)) : null,
    interrupts,
    checkpoint:
      ns === undefined || within ? null : { thread_id: stored.checkpoint.thread_id, checkpoint_ns: ns },
    state: within ? toState(within, selection, join) : null,
    // A task that was resumed keeps its interrupts.
    result: resultOf(own, keys, join) ?? null,
  };
};

/** What a task has written: its return value in the functional API, otherwise its values by channel, with `$writes` for several to one. */
const resultOf = (own: readonly StoredWrite[], keys: CheckpointSummary['keys'], join: Join): unknown => {
  const only =
    own.find(({ channel }) => channel === '__return__') ?? own.find(({ channel }) => channel === keys);
  if (only) return join(only.ref);
  if (typeof keys === 'string') return undefined;
  const byChannel = new Map<string, unknown[]>();
  for (const { channel, ref } of own)
    if (keys ? keys.includes(channel) : !isInternalChannel(channel))
      byChannel.set(channel, [...(byChannel.get(channel) ?? []), join(ref)]);
  if (byChannel.size === 0) return undefined;
  const results = [...byChannel].map(([channel, all]) => [
    channel,
    all.length > 1 ? { $writes: all } : all[0],
  ]);
  return Object.fromEntries(results) as Values;
};

const messageOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error);
