import type {
  StateValue,
  Thread,
  ThreadCommandResponse,
  ThreadState,
  ThreadStorageReport,
  Ticket,
} from '@svc/contract';
import { readJsonEvents } from './sse.ts';
import type { Body, CallOptions, Transport } from './transport.ts';

export interface NewThread extends Omit<Body<'createThread'>, 'thread_id' | 'if_exists'> {
  threadId?: string;
  /** Sent as `metadata.graph_id`. */
  graphId?: string;
  ifExists?: 'raise' | 'do_nothing';
}

/** A checkpoint of a thread; the newest one by default. */
export interface CheckpointAt {
  checkpointId?: string;
  checkpointNs?: string;
}

/** A page of a value of a state. */
export interface StateValuePage {
  /** The newest checkpoint by default. */
  checkpointId?: string | undefined;
  checkpointNs?: string | undefined;
  /** Names and indexes, from the outside in; or a JSON pointer. All values by default. */
  path?: readonly (string | number)[] | string;
  /** The first member, element or character; a negative one counts from the end. 0 by default. */
  offset?: number;
  /** Members or elements, 100 by default. */
  limit?: number;
  /** Characters of a string, 4,096 by default. */
  chars?: number;
  /** Entries whose JSON has at most this many characters are sent whole; 2,048 by default. */
  whole?: number;
  /** Adds digests, by which values of two checkpoints are compared without reading them. */
  digests?: boolean;
}

const toPointer = (path: NonNullable<StateValuePage['path']>): string =>
  typeof path === 'string'
    ? path
    : path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** The fields of a state that are returned; all of them when absent. */
type StateSelect = NonNullable<Body<'getThreadStateAtCheckpoint'>['select']>;

export class ThreadsClient {
  readonly #transport: Transport;
  #lastCommandId = 0;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Creates a thread, empty or with a state built from supersteps.
   * @example const thread = await client.threads.create({ graphId: 'agent', metadata: { customer: 42 } });
   */
  create(
    { threadId, graphId, ifExists, ...rest }: NewThread = {},
    options: CallOptions = {},
  ): Promise<Thread> {
    const body = {
      ...rest,
      ...(threadId === undefined ? {} : { thread_id: threadId }),
      ...(ifExists === undefined ? {} : { if_exists: ifExists }),
      ...(graphId === undefined ? {} : { metadata: { ...rest.metadata, graph_id: graphId } }),
    };
    return this.#transport.call('createThread', { body }, options);
  }

  /** A thread. `select`: the fields that are returned; without `values`, its state is not read. */
  get(
    threadId: string,
    { select, ...options }: { select?: readonly (keyof Thread)[] } & CallOptions = {},
  ): Promise<Thread> {
    const input = { params: { thread_id: threadId }, query: { select } };
    return this.#transport.call('getThread', input, options);
  }

  /** How many bytes the thread occupies, by kind and by channel. */
  getStorage(threadId: string, options: CallOptions = {}): Promise<ThreadStorageReport> {
    return this.#transport.call('getThreadStorage', { params: { thread_id: threadId } }, options);
  }

  /**
   * Threads that match. They have `values` only when `select` names it.
   * @example await client.threads.search({ status: 'error', created_after: '2026-01-31T12:00:00Z' });
   */
  search(body: Body<'searchThreads'> = {}, options: CallOptions = {}): Promise<Thread[]> {
    return this.#transport.call('searchThreads', { body }, options);
  }

  count(body: Body<'countThreads'> = {}, options: CallOptions = {}): Promise<number> {
    return this.#transport.call('countThreads', { body }, options);
  }

  /**
   * Events of all runs of the thread, one run after the other, until the signal fires. With `lastEventId` the stream begins after
   * that event (`-` for all events that are kept).
   */
  async *joinStream(
    threadId: string,
    {
      lastEventId,
      streamMode,
      ...options
    }: CallOptions & {
      lastEventId?: string;
      streamMode?: ('run_modes' | 'lifecycle' | 'state_update')[];
    } = {},
  ): AsyncGenerator<{ id: string | undefined; event: string; data: unknown }> {
    const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
    const { body } = await this.#transport.open(
      'joinThreadStream',
      { params: { thread_id: threadId }, query: { stream_mode: streamMode } },
      { ...options, headers, unbounded: true },
    );
    yield* readJsonEvents(body);
  }

  /**
   * Executes a command of thread protocol v2. Errors of the command are in the response. `id`: a command that is repeated while its run
   * is in flight is sent with the same one.
   * @example await client.threads.command(id, 'run.start', { assistant_id: 'agent', input: { question: 'Why?' } });
   */
  command(
    threadId: string,
    method: string,
    params: Record<string, unknown> = {},
    { id = ++this.#lastCommandId, ...options }: CallOptions & { id?: number } = {},
  ): Promise<ThreadCommandResponse> {
    const body = { id, method, params };
    return this.#transport.call('sendThreadCommand', { params: { thread_id: threadId }, body }, options);
  }

  /** A ticket, with which a client that can send no headers opens one WebSocket of thread protocol v2 within 60 s. */
  createTicket(options: CallOptions = {}): Promise<Ticket> {
    return this.#transport.call('createTicket', {}, options);
  }

  /** Events of thread protocol v2, the retained ones first, until the signal fires. */
  async *events(
    threadId: string,
    selection: Body<'streamThreadEvents'>,
    options: CallOptions = {},
  ): AsyncGenerator<{ id: string | undefined; event: string; data: unknown }> {
    const { body } = await this.#transport.open(
      'streamThreadEvents',
      { params: { thread_id: threadId }, body: selection },
      { ...options, unbounded: true },
    );
    yield* readJsonEvents(body);
  }

  /** Merges metadata, key by key. The countdown of a `ttl` starts now and restarts whenever the state changes. */
  update(threadId: string, body: Body<'patchThread'>, options: CallOptions = {}): Promise<Thread> {
    return this.#transport.call('patchThread', { params: { thread_id: threadId }, body }, options);
  }

  /** Deletes the thread with its runs and checkpoints. */
  delete(threadId: string, options: CallOptions = {}): Promise<void> {
    return this.#transport.call('deleteThread', { params: { thread_id: threadId } }, options);
  }

  /**
   * Deletes threads, or with `keep_latest` everything except their current states.
   * @example await client.threads.prune([id], { strategy: 'keep_latest' });
   */
  prune(
    threadIds: string[],
    { strategy, ...options }: Pick<Body<'pruneThreads'>, 'strategy'> & CallOptions = {},
  ): Promise<{ pruned_count: number }> {
    return this.#transport.call('pruneThreads', { body: { thread_ids: threadIds, strategy } }, options);
  }

  /** Creates a thread with the same history. */
  copy(threadId: string, options: CallOptions = {}): Promise<Thread> {
    return this.#transport.call('copyThread', { params: { thread_id: threadId } }, options);
  }

  /** The state of a thread, now or at a checkpoint. */
  getState(
    threadId: string,
    {
      checkpointId,
      checkpointNs,
      subgraphs,
      select,
      ...options
    }: CheckpointAt & { subgraphs?: boolean; select?: StateSelect } & CallOptions = {},
  ): Promise<ThreadState> {
    const params = { thread_id: threadId };
    if (checkpointNs !== undefined) {
      const checkpoint = { checkpoint_id: checkpointId, checkpoint_ns: checkpointNs };
      const body = { checkpoint, subgraphs, select };
      return this.#transport.call('getThreadStateAtCheckpoint', { params, body }, options);
    }
    const query = { subgraphs, select };
    if (checkpointId === undefined) return this.#transport.call('getThreadState', { params, query }, options);
    const at = { ...params, checkpoint_id: checkpointId };
    return this.#transport.call('getThreadStateAt', { params: at, query }, options);
  }

  /**
   * A page of a value of the state, for states that are too large to be read whole. `checkpoint_id` and `next` of the page are the
   * `checkpointId` and the `offset` of the page that follows.
   * @example const page = await client.threads.getStateValue(id, { path: ['messages'], offset: -20 });
   */
  getStateValue(
    threadId: string,
    { checkpointId, checkpointNs, path = '', ...rest }: StateValuePage = {},
    options: CallOptions = {},
  ): Promise<StateValue> {
    const query = {
      ...rest,
      path: toPointer(path),
      checkpoint_id: checkpointId,
      checkpoint_ns: checkpointNs,
    };
    return this.#transport.call('getThreadStateValue', { params: { thread_id: threadId }, query }, options);
  }

  /**
   * Writes to the state as a node would. A write to an earlier checkpoint creates a fork.
   * @example await client.threads.updateState(id, { values: { approved: true }, asNode: 'review' });
   */
  updateState(
    threadId: string,
    {
      values,
      asNode,
      checkpointId,
      checkpointNs,
      ...options
    }: { values?: unknown; asNode?: string } & CheckpointAt & CallOptions,
  ): Promise<{ checkpoint: ThreadState['checkpoint'] }> {
    const checkpoint =
      checkpointId === undefined && checkpointNs === undefined
        ? undefined
        : { checkpoint_id: checkpointId, checkpoint_ns: checkpointNs };
    const body = { values, as_node: asNode, checkpoint };
    return this.#transport.call('updateThreadState', { params: { thread_id: threadId }, body }, options);
  }

  /**
   * Merges metadata into that of the newest checkpoint.
   * @example await client.threads.patchState(id, { reviewed: true });
   */
  patchState(threadId: string, metadata: Record<string, unknown>, options: CallOptions = {}): Promise<void> {
    const input = { params: { thread_id: threadId }, body: { metadata } };
    return this.#transport.call('patchThreadState', input, options);
  }

  /** Past states, newest first. */
  getHistory(
    threadId: string,
    body: Body<'searchThreadHistory'> = {},
    options: CallOptions = {},
  ): Promise<ThreadState[]> {
    return this.#transport.call('searchThreadHistory', { params: { thread_id: threadId }, body }, options);
  }
}
