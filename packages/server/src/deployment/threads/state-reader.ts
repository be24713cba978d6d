// Reads states of threads from storage, as JSON text. A page needs one query for its checkpoints and none, one or two for their
// blobs, all bounded in bytes; large states are rendered in a parser thread.
import { notFound, Problem } from '@svc/contract/problem';
import type { ThreadState } from '@svc/contract';
import { summaryOf } from '../../engine/checkpoints/checkpoint-summary.ts';
import { findCheckpoint } from '../../engine/checkpoints/namespaces.ts';
import { RecentBlobs } from '../../engine/checkpoints/recent-blobs.ts';
import { expandedSize } from '../../engine/codec/blob.ts';
import { type JsonPart, textOf } from '../../parsing/json-bytes.ts';
import type { PageOf } from '../../api/pagination.ts';
import type { TaskRunner } from '../../parsing/tasks.ts';
import {
  type AnswerLimits,
  defaultAnswerLimits,
  freeBytes,
  whileHeld,
} from '../../storage/postgres/answer-limits.ts';
import type {
  BlobRoot,
  BlobRow,
  HeadValues,
  StoredCheckpoint,
} from '../../storage/deployment/checkpoints/checkpoint-rows.ts';
import { type StateAt, stateAtHead } from '../../storage/deployment/checkpoints/recorded-state.ts';
import { everyRow } from '../../storage/postgres/row-filter.ts';
import type { Storage } from '../../storage/storage.ts';
import type { ThreadRow } from '../../storage/deployment/threads/threads.ts';
import {
  extract,
  hashesOfState,
  hashesOfValues,
  match,
  missingOf,
  readValue,
  render,
  type RenderInput,
  type StateTasks,
  type StateTree,
  type StoredValues,
  type ValueInput,
} from './state-rendering.ts';
import { BlobReader } from './blob-reader.ts';
import type { ExtractPath } from './extract-paths.ts';
import { extractedMax, tooMuchExtracted } from './thread-record.ts';
import { wholeState } from './state-select.ts';
import { type StateSelection, valuesOnly } from './state-selection.ts';
import { stepsOf, type ValueRequest } from './state-value.ts';

/** Blobs that are joined on the main thread, however often each of them occurs. */
const isSmall = ({ blobs }: Pick<ValueInput, 'blobs'>): boolean => expandedSize(blobs) <= inlineBytesMax;

/** A thread that was read. The creation time distinguishes it from a later thread with the same id. */
type FoundThread = Pick<ThreadRow, 'thread_id' | 'blob_space' | 'created_at'>;

/** Up to this size of blobs, a state is rendered on the main thread. */
const inlineBytesMax = 524_288;
/**
 * Bytes of the nodes of lists and objects on the path of a page, up to about 50,000 elements of a list. As much as a read of `freeBytes` takes
 * with its copies: the nodes are not copied.
 */
const nodeBytesMax = 3_145_728;
/** Values of a large state of which the nodes are read first. */
const describedMax = 50;
/** Maximum number of states per query. */
const batchMax = 100;
/** Bytes of blobs that one search by values may read. */
const scannedBytesMax = 268_435_456;
/** Bytes of blobs per query, unless a single state has more. */
const batchBytesMax = 8_388_608;
/** Subgraphs whose states one response includes; the states of others are omitted. */
const subgraphsMax = 200;

/** What a task has written that waits for an answer, also for its second one. */
const ofOpenTasks = new Set(['__interrupt__', '__resume__']);

/** Blobs that were read for a page, and the hashes of those that it needs besides. */
interface ReadNodes {
  blobs: BlobRow[];
  missing: string[];
}

export class StateReader {
  readonly #storage: Pick<Storage, 'checkpoints' | 'threads'>;
  readonly #blobs: BlobReader;
  readonly #parser: TaskRunner<StateTasks>;
  readonly limits: AnswerLimits;

  constructor(
    storage: Pick<Storage, 'checkpoints' | 'threads'>,
    parser: TaskRunner<StateTasks>,
    limits = defaultAnswerLimits,
  ) {
    this.#storage = storage;
    this.#blobs = new BlobReader(storage.checkpoints, new RecentBlobs());
    this.#parser = parser;
    this.limits = limits;
  }

  /** States at checkpoints of a thread, bounded by the bytes of a page. Throws `not_found` when the thread was deleted meanwhile. */
  states(
    thread: FoundThread,
    trees: StateTree[],
    selection: StateSelection = wholeState,
  ): Promise<Pick<PageOf<JsonPart>, 'rows' | 'isCut'>> {
    return this.#whole(thread, () =>
      this.#rendered(
        trees,
        (tree) => ({ space: thread.blob_space, hashes: hashesOfState(tree, selection) }),
        (states, bytesMax) => ({ states, selection, bytesMax }),
      ),
    );
  }

  /** The values of a checkpoint. Throws `not_found` when the thread was deleted meanwhile. */
  async values(thread: FoundThread, { channels, shape }: StoredValues): Promise<JsonPart> {
    const { rows } = await this.#whole(thread, () =>
      this.valuesOf([{ channels, shape, space: thread.blob_space }]),
    );
    return rows[0] ?? 'null';
  }

  /**
   * A page of a value of a checkpoint, as JSON text; undefined when there is nothing at the path. Reads only what the page needs. Throws
   * `not_found` when the thread was deleted meanwhile.
   */
  page(
    thread: FoundThread,
    { checkpoint }: StoredCheckpoint,
    request: ValueRequest,
  ): Promise<string | undefined> {
    const { channels, shape, checkpoint_id } = checkpoint;
    const [name] = stepsOf(request.path);
    const value = {
      checkpoint: { channels, shape, checkpoint_id },
      keys: name === undefined ? undefined : [name],
      request,
    };
    const space = thread.blob_space;
    return this.#whole(thread, async () => {
      const nodes =
        name === undefined ? await this.#describedBy(value, space) : await this.#nodesFor(value, space);
      const roots = (): BlobRoot => ({ space, hashes: nodes.missing });
      return this.#withBatch([value], roots, remedies.page, async ({ blobs }) => {
        const input = { ...value, blobs: [...nodes.blobs, ...blobs] };
        return isSmall(input) ? readValue(input) : this.#parser.run('value', input);
      });
    });
  }

  /** The nodes of lists and objects on the path of a page, and the hashes of the blobs that the page needs besides. */
  async #nodesFor(value: Omit<ValueInput, 'blobs'>, space: string): Promise<ReadNodes> {
    const blobs: BlobRow[] = [];
    for (let bytes = 0; ;) {
      const input = { ...value, blobs };
      const { at, entries } = isSmall(input) ? missingOf(input) : await this.#parser.run('missing', input);
      if (at === undefined) return { blobs, missing: entries };
      const roots = [{ space, hashes: [at] }];
      const nodes = await this.#storage.checkpoints.nodesOf(roots, nodeBytesMax - bytes);
      // If the nodes of a value are too large, all of it is read.
      if (!nodes.blobs?.length) return { blobs, missing: [at] };
      blobs.push(...nodes.blobs);
      bytes += nodes.bytes;
    }
  }

  /** For a page of the values themselves: all of their blobs when they are few; otherwise the nodes of large lists, which tell their lengths. */
  async #describedBy(value: Omit<ValueInput, 'blobs'>, space: string): Promise<ReadNodes> {
    const { checkpoints } = this.#storage;
    const { entries: hashes } = missingOf({ ...value, blobs: [] });
    const whole = await checkpoints.blobsOf([{ space, hashes }], inlineBytesMax);
    if (whole.blobs) return { blobs: whole.blobs, missing: [] };
    const blobs: BlobRow[] = [];
    let bytes = 0;
    for (const hash of hashes.slice(0, describedMax)) {
      const nodes = await checkpoints.nodesOf([{ space, hashes: [hash] }], nodeBytesMax - bytes);
      if (!nodes.blobs?.some(({ refs }) => refs?.length)) continue;
      blobs.push(...nodes.blobs);
      bytes += nodes.bytes;
    }
    const { entries } = await this.#parser.run('missing', { ...value, blobs });
    return { blobs, missing: entries };
  }

  /** The interrupts of a checkpoint that have no answer. Throws `not_found` when the thread was deleted meanwhile. */
  async openInterrupts(thread: FoundThread, stored: StoredCheckpoint): Promise<unknown[]> {
    if (!stored.writes.some(({ channel }) => channel === '__interrupt__')) return [];
    const { rows } = await this.states(thread, [{ stored }], { fields: ['tasks'], keys: undefined });
    const { tasks } = JSON.parse(textOf(rows[0] ?? '{"tasks":[]}')) as Pick<ThreadState, 'tasks'>;
    // A task that was answered keeps its interrupts, and has written more.
    const answered = new Set(
      stored.writes.flatMap(({ task_id, channel }) => (ofOpenTasks.has(channel) ? [] : [task_id])),
    );
    return tasks.flatMap(({ id, interrupts }) => (answered.has(id) ? [] : interrupts));
  }

  /** The values of several threads, bounded by the bytes of a page. */
  valuesOf(heads: (StoredValues & { space: string })[]): Promise<Pick<PageOf<JsonPart>, 'rows' | 'isCut'>> {
    const selection = valuesOnly();
    return this.#rendered(
      heads,
      (head) => ({ space: head.space, hashes: hashesOfValues(head, selection) }),
      (values, bytesMax) => ({ values, selection, bytesMax }),
    );
  }

  /**
   * Returns a function that tells which threads have values that contain `wanted`. It throws when a single state, or all states that it has
   * read so far, are too large.
   */
  matcher(wanted: Record<string, unknown>): (heads: HeadValues[]) => Promise<boolean[]> {
    const selection = valuesOnly(Object.keys(wanted));
    let left = scannedBytesMax;
    return async (heads) => {
      const matches: boolean[] = [];
      while (matches.length < heads.length) {
        const rest = heads.slice(matches.length);
        const rootsOf = (head: HeadValues) => ({
          space: head.space,
          hashes: hashesOfValues(head, selection),
        });
        const found = await this.#withBatch(
          rest,
          rootsOf,
          remedies.filter,
          async ({ blobs, bytes, count }) => {
            left -= bytes;
            if (left < 0) throw tooMuch();
            const input = { blobs, values: rest.slice(0, count), wanted };
            return bytes <= inlineBytesMax ? match(input) : this.#parser.run('match', input);
          },
        );
        matches.push(...found);
      }
      return matches;
    };
  }

  /** The parts of the values of several threads at these paths, as JSON texts, bounded by the bytes of a page. */
  async extracted(
    heads: (StoredValues & { space: string })[],
    paths: readonly ExtractPath['steps'][],
  ): Promise<{ rows: string[][]; isCut: boolean }> {
    const names = paths.map(([name]) => name).filter((name) => typeof name === 'string');
    const keys = names.length === paths.length ? names : undefined;
    const selection = valuesOnly(keys);
    const rootsOf = (head: StoredValues & { space: string }): BlobRoot => ({
      space: head.space,
      hashes: hashesOfValues(head, selection),
    });
    const rows: string[][] = [];
    let left = this.limits.pageBytes;
    while (rows.length < heads.length) {
      const rest = heads.slice(rows.length);
      const found = await this.#withBatch(rest, rootsOf, remedies.select, async ({ blobs, bytes, count }) => {
        const input = { blobs, values: rest.slice(0, count), keys, paths };
        return bytes <= inlineBytesMax ? extract(input) : this.#parser.run('extract', input);
      });
      for (const texts of found) {
        const size = texts.reduce((sum, { length }) => sum + length, 0);
        if (size > extractedMax) throw tooMuchExtracted(size);
        left -= size;
        if (left < 0 && rows.length > 0) return { rows, isCut: true };
        rows.push(texts);
      }
    }
    return { rows, isCut: false };
  }

  /** A checkpoint with the checkpoints of its pending subgraphs, recursively. */
  async tree(state: StateAt, left = { subgraphs: subgraphsMax }): Promise<StateTree> {
    const inner: Record<string, StateTree> = {};
    const { checkpoint } = state.stored;
    for (const { ns } of summaryOf(checkpoint)?.tasks ?? []) {
      if (ns === undefined || left.subgraphs-- <= 0) continue;
      const { thread_id } = checkpoint;
      const found = await findCheckpoint(this.#storage.checkpoints, { thread_id, checkpoint_ns: ns });
      if (found) inner[ns] = await this.tree(stateAtHead(found), left);
    }
    return { ...state, inner };
  }

  /** Throws `not_found` when the thread was deleted meanwhile. Called when no state was found. */
  async assertThere({ thread_id, created_at }: FoundThread): Promise<void> {
    const there = await this.#storage.threads.find(thread_id, everyRow);
    if (there?.created_at !== created_at) throw notFound('Thread', thread_id);
  }

  /** Replaces the error of an incomplete state by `not_found` when the thread was deleted between two statements. */
  async #whole<T>(thread: FoundThread, read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (error) {
      await this.assertThere(thread);
      throw error;
    }
  }

  async #rendered<T>(
    items: T[],
    rootsOf: (item: T) => BlobRoot,
    inputOf: (items: T[], bytesMax: number) => Omit<RenderInput, 'blobs'>,
  ): Promise<Pick<PageOf<JsonPart>, 'rows' | 'isCut'>> {
    const rows: JsonPart[] = [];
    let left = this.limits.pageBytes;
    while (rows.length < items.length) {
      const rest = items.slice(rows.length);
      const { texts, count } = await this.#withBatch(rest, rootsOf, remedies.select, async (batch) => {
        const input = { blobs: batch.blobs, ...inputOf(rest.slice(0, batch.count), left) };
        const isSmall = batch.bytes <= inlineBytesMax;
        return {
          texts: isSmall ? render(input, textIn) : await this.#parser.run('states', input),
          count: batch.count,
        };
      });
      const bytes = texts.reduce((sum, { length }) => sum + length, 0);
      if (rows.length > 0 && bytes > left) return { rows, isCut: true };
      rows.push(...texts);
      left -= bytes;
      if (texts.length < count || left <= 0) return { rows, isCut: rows.length < items.length };
    }
    return { rows, isCut: false };
  }

  /** Calls `use` with the blobs of as many items as fit into a page, at least of one. Throws `too_large` when one exceeds the limit. */
  async #withBatch<T, U>(
    items: T[],
    rootsOf: (item: T) => BlobRoot,
    remedy: string,
    use: (batch: { blobs: BlobRow[]; bytes: number; count: number }) => Promise<U>,
  ): Promise<U> {
    const { checkpoints } = this.#storage;
    const { pageBytes, valueBytes } = this.limits;
    for (let count = Math.min(items.length, batchMax); ; count = Math.ceil(count / 2)) {
      const roots = items.slice(0, count).map(rootsOf);
      const bytesMax = count === 1 ? valueBytes : Math.min(pageBytes, batchBytesMax);
      const { blobs, bytes } = await this.#blobs.read(roots, Math.min(bytesMax, freeBytes));
      if (blobs !== undefined) return use({ blobs, bytes, count });
      if (bytes <= bytesMax) {
        const large = await whileHeld(this.limits, bytes, async () => {
          const read = await checkpoints.blobsOf(roots, bytesMax);
          return read.blobs && { used: await use({ blobs: read.blobs, bytes: read.bytes, count }) };
        });
        if (large) return large.used;
      } else if (count === 1) throw tooLarge(bytes, valueBytes, remedy);
    }
  }
}

const textIn = (write: (add: (text: string) => void) => void): string => {
  let whole = '';
  write((text) => (whole += text));
  return whole;
};

/** What a client can do when a state exceeds the limit. */
const remedies = {
  filter: 'Narrow the search by metadata, status or ids',
  select: 'Select parts of it (select=values.<name>)',
  page: 'Read single values (path=/<name>), or fewer entries (limit)',
};

const tooLarge = (bytes: number, bytesMax: number, remedy: string): Problem =>
  new Problem(
    'too_large',
    `The state of a thread has ${bytes} bytes; the limit of a response is ${bytesMax}. ${remedy}.`,
  );

const tooMuch = (): Problem =>
  new Problem(
    'too_large',
    `The search by values would read more than ${scannedBytesMax} bytes. Narrow it by metadata, status or ids.`,
  );

/** The state of a thread without a checkpoint. */
export const emptyState = (thread_id: string): ThreadState => ({
  values: {},
  next: [],
  tasks: [],
  interrupts: [],
  metadata: {},
  created_at: null,
  checkpoint: { thread_id, checkpoint_ns: '', checkpoint_id: null },
  parent_checkpoint: null,
  checkpoint_id: null,
  parent_checkpoint_id: null,
  nodes: [],
});
