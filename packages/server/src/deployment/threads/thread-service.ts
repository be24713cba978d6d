// Threads: conversations with checkpointed state.
import { randomUUID } from 'node:crypto';
import { threadCountMax, type ThreadStorageReport } from '@svc/contract';
import { invalid, notFound, Problem } from '@svc/contract/problem';
import type { AccessFilter } from '../../auth/authorization/access-filter.ts';
import type { JsonPart } from '../../parsing/json-bytes.ts';
import type { PageOf } from '../../api/pagination.ts';
import { everyRow, type RowFilter } from '../../storage/postgres/row-filter.ts';
import { outOfReach } from '../out-of-reach.ts';
import { unlessGone } from '../unless-gone.ts';
import type { Dispatcher } from '../../engine/dispatch/dispatcher.ts';
import type { HeadValues } from '../../storage/deployment/checkpoints/checkpoint-rows.ts';
import { stateAtHead } from '../../storage/deployment/checkpoints/recorded-state.ts';
import type { Storage } from '../../storage/storage.ts';
import type {
  ListedThread,
  ThreadFilter,
  ThreadPage,
  ThreadRow,
  GivenTtl,
} from '../../storage/deployment/threads/threads.ts';
import type { StateReader } from './state-reader.ts';
import { sweepMs, ThreadDeletion } from './thread-deletion.ts';
import type { StateService, Superstep, Updater } from './state-service.ts';
import { usageReport, extractedText, isColumnOf, threadText } from './thread-record.ts';
import type { ExtractPath } from './extract-paths.ts';

export interface NewThread {
  thread_id?: string | undefined;
  metadata?: Record<string, unknown> | undefined;
  if_exists: 'raise' | 'do_nothing';
  supersteps?: Superstep[] | undefined;
  /** When absent, the deployment's default applies; null for none. */
  ttl?: GivenTtl | undefined;
  fields?: ReadonlySet<string> | undefined;
}

export interface ThreadSearch extends ThreadFilter {
  /** Containment, on the values of the newest checkpoint. */
  values?: Record<string, unknown> | undefined;
}

/** `last`: the thread behind which the next page begins. */
export type ThreadsPage = PageOf<JsonPart> & { last: ListedThread | undefined };

/** What a search returns of each thread. */
export interface ShownParts {
  fields: ReadonlySet<string>;
  extracts: readonly ExtractPath[];
}

/** Maximum number of threads whose states a search by values reads. */
const scannedMax = 10_000;
const scanPage = 500;

/** Maximum number of checkpoints and writes of a thread that is copied, since one statement copies them. */
export const copiedRowsMax = 200_000;

/** Attempts to find a thread whose id is taken. */
const findTries = 2;

type Stores = Pick<Storage, 'checkpoints' | 'runs' | 'threads'>;

export class ThreadService {
  readonly #storage: Stores;
  readonly #reader: StateReader;
  readonly #states: StateService;
  readonly #dispatcher: Pick<Dispatcher, 'cancel'>;
  readonly #deletion: ThreadDeletion;

  constructor(
    storage: Stores,
    reader: StateReader,
    states: StateService,
    dispatcher: Pick<Dispatcher, 'cancel'>,
  ) {
    this.#storage = storage;
    this.#reader = reader;
    this.#states = states;
    this.#dispatcher = dispatcher;
    this.#deletion = new ThreadDeletion(storage);
  }

  /**
   * With `do_nothing`, an existing thread is returned if the caller may create it and may read it. `fields`: those of the response; all of
   * them when undefined.
   */
  async create(
    { thread_id, metadata = {}, if_exists, supersteps, ttl, fields }: NewThread,
    { creatable, readable }: { creatable: AccessFilter; readable: RowFilter },
    updater: Updater,
  ): Promise<JsonPart> {
    const id = thread_id ?? randomUUID();
    if (supersteps && supersteps.length > 0 && typeof metadata['graph_id'] !== 'string') {
      throw invalid(
        ['body', 'metadata', 'graph_id'],
        'supersteps need metadata.graph_id: it names the graph whose nodes they write as',
      );
    }
    const create = () => this.#storage.threads.create({ thread_id: id, metadata, config: {} }, ttl);
    let row = await create();
    // Repeated, because the existing thread may be deleted, and created again, between the two statements.
    for (let tries = 1; !row && if_exists === 'do_nothing' && tries <= findTries; tries++) {
      const existing = await this.#storage.threads.find(id, readable);
      const isVisible = existing && creatable.matches(existing.metadata);
      const thread = isVisible ? await this.#withAllValues(existing, fields).catch(unlessGone) : undefined;
      if (thread) return thread;
      row = await create();
    }
    // The message does not reveal whether the thread belongs to another user.
    if (!row) throw new Problem('conflict', `Thread already exists, or is still being deleted: ${id}`);
    if (!supersteps || supersteps.length === 0) return threadText(row, '{}', fields);
    try {
      await this.#states.apply(row, supersteps, {}, updater);
    } catch (error) {
      // Other requests may have used the thread since it was created.
      await this.#storage.threads.deleteUnused(id, creatable);
      throw error;
    }
    return this.get(id, creatable, fields);
  }

  /** How many bytes the thread occupies. Throws `not_found`. */
  async getUsage(thread_id: string, access: RowFilter): Promise<ThreadStorageReport> {
    const found = await this.#storage.threads.findUsage(thread_id, access);
    if (!found) throw notFound('Thread', thread_id);
    return usageReport(thread_id, found);
  }

  /**
   * The thread as JSON text. `fields`: those that are shown; all of them when undefined. Without `values`, no state is read. Throws
   * `not_found`.
   */
  async get(thread_id: string, access: RowFilter, fields?: ReadonlySet<string>): Promise<JsonPart> {
    if (fields?.has('values') === false)
      return threadText(await this.getRow(thread_id, access), undefined, fields);
    const shown = await this.#storage.threads.findShown(thread_id, access);
    if (!shown) throw notFound('Thread', thread_id);
    const values = shown.channels === null ? '{}' : await this.#reader.values(shown, shown);
    return threadText(shown, values, fields);
  }

  /** The stored row. Throws `not_found`. */
  async getRow(thread_id: string, access: RowFilter): Promise<ThreadRow> {
    const row = await this.#storage.threads.find(thread_id, access);
    if (!row) throw notFound('Thread', thread_id);
    return row;
  }

  /** A ttl starts now; null removes it. */
  async patch(
    thread_id: string,
    metadata: Record<string, unknown>,
    access: RowFilter,
    ttl?: GivenTtl,
  ): Promise<JsonPart> {
    const patch = () => this.#storage.threads.patch(thread_id, metadata, access, ttl);
    let row = await patch();
    if (!row) {
      await this.getRow(thread_id, access);
      // The thread may have been created after the first attempt.
      row = await patch();
    }
    if (!row) throw outOfReach('thread');
    return this.#withAllValues(row);
  }

  /** When this resolves, the thread counts as deleted; some of its rows may remain after `untilMs` (monotonic). */
  async delete(thread_id: string, access: RowFilter, untilMs = performance.now() + sweepMs): Promise<void> {
    const inFlight = await this.#storage.runs.listInFlight(thread_id);
    if (!(await this.#deletion.delete(thread_id, access, untilMs))) throw notFound('Thread', thread_id);
    // Their rows are deleted, so their flushes are rejected; this stops the executors.
    for (const run_id of inFlight) this.#dispatcher.cancel(run_id);
  }

  /** Creates a thread with the same history and additional metadata. */
  async copy(
    source: { thread_id: string; access: RowFilter },
    copy: { thread_id: string; access: RowFilter; metadata: Record<string, unknown> },
  ): Promise<JsonPart> {
    const { thread_id } = copy;
    const to = { ...copy, metadata: { ...copy.metadata, thread_id } };
    const outcome = await this.#storage.threads.copy(source, to, copiedRowsMax);
    if (outcome === 'missing') throw notFound('Thread', source.thread_id);
    if (outcome === 'outside') throw outOfReach('copy');
    if (outcome === 'too_large') {
      throw new Problem(
        'conflict',
        `Thread ${source.thread_id} has more than ${copiedRowsMax} checkpoints and writes, which is the most that can be copied. Prune it first with strategy keep_latest`,
      );
    }
    return this.get(thread_id, everyRow);
  }

  /**
   * A page of threads, and the number that match, which is counted up to `threadCountMax` or the end of the page; undefined for a page that
   * begins behind a place. Only the requested fields are read.
   */
  async search(
    filter: ThreadSearch,
    page: ThreadPage,
    shown: ShownParts,
    access: RowFilter,
  ): Promise<{ page: ThreadsPage; total: number | undefined }> {
    if (filter.values && Object.keys(filter.values).length > 0) {
      const ids = await this.#matching(filter, page, filter.values, access);
      const wanted = ids.slice(page.offset, page.offset + page.limit);
      const inOrder = { ...page, offset: 0, after: undefined };
      const found = await this.#read({ ids: wanted }, inOrder, shown, access);
      const isLast = page.offset + wanted.length >= ids.length;
      const total = page.after === undefined ? ids.length : undefined;
      return { page: { ...found, hasMore: found.isCut || !isLast }, total };
    }
    if (page.after) return { page: await this.#read(filter, page, shown, access), total: undefined };
    const [found, total] = await Promise.all([
      this.#read(filter, page, shown, access),
      this.#storage.threads.countUpTo(filter, access, Math.max(threadCountMax, page.offset + page.limit) + 1),
    ]);
    return { page: found, total };
  }

  async count(filter: ThreadSearch, access: RowFilter): Promise<number> {
    if (!filter.values || Object.keys(filter.values).length === 0)
      return this.#storage.threads.count(filter, access);
    const order = { sort_by: 'created_at', sort_order: 'desc' } as const;
    return (await this.#matching(filter, order, filter.values, access)).length;
  }

  async #read(
    filter: ThreadFilter,
    page: ThreadPage,
    shown: ShownParts,
    access: RowFilter,
  ): Promise<ThreadsPage> {
    const { fields, extracts } = shown;
    const columns = new Set([...fields, ...extracts.map(({ root }) => root)]);
    const found = await this.#storage.threads.search(filter, page, access, isColumnOf(columns));
    if (!columns.has('values')) {
      const { rows, isCut } = this.#texts(found.rows, (row) =>
        threadText(row, undefined, fields, extractedText(row, extracts, [])),
      );
      const last = found.rows[rows.length - 1];
      return { rows, last, hasMore: found.hasMore || isCut, isCut: found.isCut || isCut };
    }
    const { rows, last, isCut } = await this.#withValues(found.rows, shown, access);
    return { rows, last, hasMore: found.hasMore || isCut, isCut: found.isCut || isCut };
  }

  /** Adds what is built from values. Leaves out threads that were deleted meanwhile. */
  async #withValues(
    found: ListedThread[],
    { fields, extracts }: ShownParts,
    access: RowFilter,
  ): Promise<Omit<ThreadsPage, 'hasMore'>> {
    const byId = new Map(found.map((row) => [row.thread_id, row]));
    const paths = extracts.filter(({ root }) => root === 'values').map(({ steps }) => steps);
    const { heads, result } = await this.#ofExisting([...byId.keys()], access, async (remaining) => ({
      values: fields.has('values') ? await this.#reader.valuesOf(remaining) : undefined,
      parts: paths.length > 0 ? await this.#reader.extracted(remaining, paths) : undefined,
    }));
    const { values, parts } = result;
    const count = Math.min(values?.rows.length ?? heads.length, parts?.rows.length ?? heads.length);
    const existing = heads.slice(0, count).flatMap(({ thread_id }, at) => {
      const row = byId.get(thread_id);
      return row ? [{ row, values: values?.rows[at], parts: parts?.rows[at] ?? [] }] : [];
    });
    const { rows, isCut } = this.#texts(existing, (one) =>
      threadText(one.row, one.values, fields, extractedText(one.row, extracts, one.parts)),
    );
    const isEarly = isCut || count < heads.length;
    return { rows, last: isEarly ? existing[rows.length - 1]?.row : found.at(-1), isCut: isEarly };
  }

  /** Texts of threads, up to the bytes of a page: several paths may extract the same part. */
  #texts<T>(items: T[], textOf: (item: T) => JsonPart): Pick<PageOf<JsonPart>, 'rows' | 'isCut'> {
    const rows: JsonPart[] = [];
    let left = this.#reader.limits.pageBytes;
    for (const item of items) {
      const text = textOf(item);
      left -= text.length;
      if (left < 0 && rows.length > 0) return { rows, isCut: true };
      rows.push(text);
    }
    return { rows, isCut: false };
  }

  /** Reads data of the threads. When it fails because some were deleted meanwhile, repeats the read without them. */
  async #ofExisting<T>(
    thread_ids: string[],
    access: RowFilter,
    read: (heads: HeadValues[]) => Promise<T>,
  ): Promise<{ heads: HeadValues[]; result: T }> {
    for (let ids = thread_ids; ;) {
      const found = await this.#storage.checkpoints.findHeadValues(ids, access);
      const heads = ids.flatMap((id) => found.get(id) ?? []);
      try {
        return { heads, result: await read(heads) };
      } catch (error) {
        ids = heads.map(({ thread_id }) => thread_id);
        if ((await this.#storage.checkpoints.findHeadValues(ids, access)).size === ids.length) throw error;
      }
    }
  }

  /** Matching ids in order. Values have no index: the states of all candidates of the other filters are read in pages, up to a limit. */
  async #matching(
    filter: ThreadSearch,
    order: Pick<ThreadPage, 'sort_by' | 'sort_order' | 'after'>,
    values: Record<string, unknown>,
    access: RowFilter,
  ): Promise<string[]> {
    const candidates = await this.#storage.threads.countUpTo(filter, access, scannedMax + 1);
    if (candidates > scannedMax) {
      throw invalid(
        ['body', 'values'],
        `A search by values reads at most ${scannedMax} threads, and more match the other filters: narrow them by metadata, status or time`,
      );
    }
    const scan = this.#reader.matcher(values);
    const matching: string[] = [];
    const { sort_by, sort_order, after } = order;
    for (let offset = 0; offset < candidates; offset += scanPage) {
      const page = { sort_by, sort_order, after, limit: scanPage, offset };
      const ids = await this.#storage.threads.searchIds(filter, page, access);
      const { heads, result } = await this.#ofExisting(ids, access, scan);
      matching.push(...heads.flatMap(({ thread_id }, at) => (result[at] === true ? [thread_id] : [])));
    }
    return matching;
  }

  /** The thread with its values. Throws `not_found` when it was deleted meanwhile. */
  async #withAllValues(row: ThreadRow, fields?: ReadonlySet<string>): Promise<JsonPart> {
    const head = await this.#storage.checkpoints.find({ thread_id: row.thread_id, checkpoint_ns: '' });
    if (!head) await this.#reader.assertThere(row);
    const values = head ? await this.#reader.values(row, stateAtHead(head).stored.checkpoint) : '{}';
    return threadText(row, values, fields);
  }
}
