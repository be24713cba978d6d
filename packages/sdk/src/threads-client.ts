import type { CallInput, Thread, ThreadState, threadRoutes } from '@svc/contract';
import { readEvents } from './sse.ts';
import { path, type CallOptions, type Transport } from './transport.ts';

type Body<K extends keyof typeof threadRoutes> = NonNullable<CallInput<(typeof threadRoutes)[K]>['body']>;

export interface NewThread extends Omit<Body<'createThread'>, 'thread_id' | 'if_exists'> {
  threadId?: string;
  /** Sent as `metadata.graph_id`. */
  graphId?: string;
  ifExists?: 'raise' | 'do_nothing';
}

/** Which checkpoint; by default the newest one of the thread. */
export interface CheckpointAt {
  checkpointId?: string;
  checkpointNs?: string;
}

export class ThreadsClient {
  readonly #transport: Transport;

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
    return this.#transport.json({ method: 'POST', path: '/threads', body, ...options });
  }

  get(threadId: string, options: CallOptions = {}): Promise<Thread> {
    return this.#transport.json({ method: 'GET', path: path`/threads/${threadId}`, ...options });
  }

  /** Threads that match; without values unless `select` names them. */
  search(body: Body<'searchThreads'> = {}, options: CallOptions = {}): Promise<Thread[]> {
    return this.#transport.json({ method: 'POST', path: '/threads/search', body, ...options });
  }

  count(body: Body<'countThreads'> = {}, options: CallOptions = {}): Promise<number> {
    return this.#transport.json({ method: 'POST', path: '/threads/count', body, ...options });
  }

  /**
   * Events of all runs of the thread, one run after the other, until the signal fires; after `lastEventId` if it is
   * given (`-` for all that are kept).
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
    const { body } = await this.#transport.send({
      method: 'GET',
      path: path`/threads/${threadId}/stream`,
      query: { stream_mode: streamMode },
      ...(lastEventId === undefined ? {} : { headers: { 'last-event-id': lastEventId } }),
      unbounded: true,
      ...options,
    });
    if (!body) return;
    for await (const { id, event, data } of readEvents(body)) {
      yield { id, event, data: JSON.parse(data) as unknown };
    }
  }

  /** Merges metadata, key by key. A `ttl` counts from now on, and after that from every change of the state. */
  update(threadId: string, body: Body<'patchThread'>, options: CallOptions = {}): Promise<Thread> {
    return this.#transport.json({ method: 'PATCH', path: path`/threads/${threadId}`, body, ...options });
  }

  /** Deletes the thread with its runs and checkpoints. */
  delete(threadId: string, options: CallOptions = {}): Promise<void> {
    return this.#transport.json({ method: 'DELETE', path: path`/threads/${threadId}`, ...options });
  }

  /**
   * Deletes threads, or with `keep_latest` all of them but their current states.
   * @example await client.threads.prune([id], { strategy: 'keep_latest' });
   */
  prune(
    threadIds: string[],
    { strategy, ...options }: Pick<Body<'pruneThreads'>, 'strategy'> & CallOptions = {},
  ): Promise<{ pruned_count: number }> {
    const body = { thread_ids: threadIds, strategy };
    return this.#transport.json({ method: 'POST', path: '/threads/prune', body, ...options });
  }

  /** A new thread with the same history. */
  copy(threadId: string, options: CallOptions = {}): Promise<Thread> {
    return this.#transport.json({ method: 'POST', path: path`/threads/${threadId}/copy`, ...options });
  }

  /** The state of a thread, now or at a checkpoint. */
  getState(
    threadId: string,
    {
      checkpointId,
      checkpointNs,
      subgraphs,
      ...options
    }: CheckpointAt & { subgraphs?: boolean } & CallOptions = {},
  ): Promise<ThreadState> {
    if (checkpointNs === undefined) {
      const where =
        checkpointId === undefined
          ? path`/threads/${threadId}/state`
          : path`/threads/${threadId}/state/${checkpointId}`;
      return this.#transport.json({ method: 'GET', path: where, query: { subgraphs }, ...options });
    }
    const checkpoint = { checkpoint_id: checkpointId, checkpoint_ns: checkpointNs };
    const body = { checkpoint, subgraphs };
    return this.#transport.json({
      method: 'POST',
      path: path`/threads/${threadId}/state/checkpoint`,
      body,
      ...options,
    });
  }

  /**
   * Writes to the state as a node would; from an earlier checkpoint this makes a fork.
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
    return this.#transport.json({ method: 'POST', path: path`/threads/${threadId}/state`, body, ...options });
  }

  /** Past states, newest first. */
  getHistory(
    threadId: string,
    body: Body<'searchThreadHistory'> = {},
    options: CallOptions = {},
  ): Promise<ThreadState[]> {
    return this.#transport.json({
      method: 'POST',
      path: path`/threads/${threadId}/history`,
      body,
      ...options,
    });
  }
}
