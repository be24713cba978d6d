// Reads the states of a thread, and updates its state outside of runs.
import { randomUUID } from 'node:crypto';
import { notFound, Problem } from '@svc/contract/problem';
import type { JsonPart } from '../../parsing/json-bytes.ts';
import { defaultAssistantId } from '../assistants/default-assistant.ts';
import { isUuid } from '../../storage/postgres/uuid.ts';
import type { Dispatcher } from '../../engine/dispatch/dispatcher.ts';
import { summaryOf } from '../../engine/checkpoints/checkpoint-summary.ts';
import { findCheckpoint, memoryNamespace } from '../../engine/checkpoints/namespaces.ts';
import { mergeConfigs } from '../../engine/dispatch/run-command.ts';
import type { StateUpdate } from '../../engine/dispatch/protocol.ts';
import type { StoredCheckpoint } from '../../storage/deployment/checkpoints/checkpoint-rows.ts';
import {
  type StateAt,
  stateAtCheckpoint,
  stateAtHead,
} from '../../storage/deployment/checkpoints/recorded-state.ts';
import type { Storage } from '../../storage/storage.ts';
import { everyRow, type RowFilter } from '../../storage/postgres/row-filter.ts';
import type { ThreadRow } from '../../storage/deployment/threads/threads.ts';
import type { PageOf } from '../../api/pagination.ts';
import { emptyState, type StateReader } from './state-reader.ts';
import { toSelection } from './state-select.ts';
import { pageAt, type ValueRequest } from './state-value.ts';
import { contains } from './contains.ts';

export interface Superstep {
  updates: StateUpdate[];
}

export interface CheckpointSelector {
  checkpoint_id?: string | undefined;
  checkpoint_ns?: string | undefined;
}

export interface History {
  limit: number;
  before?: string | undefined;
  metadata?: Record<string, unknown> | undefined;
  checkpoint?: CheckpointSelector | undefined;
  select?: string[] | undefined;
}

export interface StateView {
  /** Whether states of pending subgraphs are included instead of references to them. */
  subgraphs?: boolean | undefined;
  /** Names of fields, or `values.<name>`; everything when absent. */
  select?: string[] | undefined;
}

/** The caller of a state update. */
export interface Updater {
  /** The keys of the user that the graph gets in `configurable`. */
  keys: Record<string, unknown>;
  /** Whose assistants may lend their configuration: a client may write any id into its thread's metadata. */
  assistantAccess: RowFilter;
}

export interface UpdatedState {
  checkpoint: { thread_id: string; checkpoint_ns: string; checkpoint_id: string };
}

/** Metadata of a checkpoint that the server and the engine set and read. */
const ownKeys = new Set([
  'source',
  'step',
  'parents',
  'writes',
  'thread_id',
  'checkpoint_id',
  'checkpoint_ns',
  'graph_id',
  'assistant_id',
  'run_id',
]);

/** Attempts of an update that conflicts with another one: it starts again from the new head. */
const updateTries = 5;
/** Page size, and maximum number of pages, of a history that is filtered by metadata. */
const historyPage = 100;
const historyPagesMax = 100;

type Stores = Pick<Storage, 'assistants' | 'checkpoints' | 'runs' | 'threads'>;

export class StateService {
  readonly #storage: Stores;
  readonly #reader: StateReader;
  readonly #dispatcher: Pick<Dispatcher, 'pool'>;

  constructor(storage: Stores, reader: StateReader, dispatcher: Pick<Dispatcher, 'pool'>) {
    this.#storage = storage;
    this.#reader = reader;
    this.#dispatcher = dispatcher;
  }

  /** The state at a checkpoint (by default the head of the root namespace) as JSON text. */
  async get(
    thread_id: string,
    at: CheckpointSelector,
    access: RowFilter,
    { subgraphs = false, select }: StateView = {},
  ): Promise<JsonPart> {
    const selection = toSelection(select);
    const thread = await this.#thread(thread_id, access);
    const found = await this.#checkpoint(thread, at);
    const isNewest = !at.checkpoint_id && !at.checkpoint_ns;
    const isStarting =
      isNewest && selection.fields.includes('next') && (await this.#isStarting(thread, found));
    const starting = isStarting ? { next: ['__start__'] } : {};
    if (!found) {
      const entries = Object.entries({ ...emptyState(thread_id), ...starting });
      return JSON.stringify(
        Object.fromEntries(entries.filter(([name]) => selection.fields.some((field) => field === name))),
      );
    }
    const tree = subgraphs ? await this.#reader.tree(found) : found;
    const { rows } = await this.#reader.states(thread, [{ ...tree, ...starting }], selection);
    if (rows[0] === undefined) throw notFound('Checkpoint', found.stored.checkpoint.checkpoint_id);
    return rows[0];
  }

  /** Whether a run is in flight that has no checkpoint yet, and nothing else is left to run: clients then wait for its events. */
  async #isStarting(thread: ThreadRow, newest: StateAt | undefined): Promise<boolean> {
    if (thread.status !== 'busy') return false;
    const left = newest && (newest.next ?? summaryOf(newest.stored.checkpoint)?.tasks);
    if (left !== undefined && left.length > 0) return false;
    return this.#storage.runs.isStarting(thread.thread_id, newest?.stored.checkpoint.run_id ?? null);
  }

  /** A page of a value of the state at a checkpoint (by default the head of the root namespace) as JSON text. */
  async value(
    thread_id: string,
    at: CheckpointSelector,
    access: RowFilter,
    request: ValueRequest,
  ): Promise<string> {
    const thread = await this.#thread(thread_id, access);
    const found = await this.#checkpoint(thread, at);
    const page = found
      ? await this.#reader.page(thread, found.stored, request)
      : pageAt(emptyState(thread_id).values, request, null);
    if (page === undefined)
      throw new Problem(
        'not_found',
        `The state of the thread has no value at the path ${JSON.stringify(request.path)}`,
      );
    return page;
  }

  /** Undefined for a thread without a checkpoint. Throws `not_found` when the named one does not exist, or the thread was deleted meanwhile. */
  async #checkpoint(
    thread: ThreadRow,
    { checkpoint_id, checkpoint_ns = '' }: CheckpointSelector,
  ): Promise<StateAt | undefined> {
    const { thread_id } = thread;
    const key = { thread_id, checkpoint_ns, checkpoint_id };
    const found = await findCheckpoint(this.#storage.checkpoints, key);
    if (found) return checkpoint_id ? stateAtCheckpoint(found) : stateAtHead(found);
    if (checkpoint_id) throw notFound('Checkpoint', checkpoint_id);
    await this.#reader.assertThere(thread);
    return undefined;
  }

  /** States as JSON texts, newest first. `next`: the value of `before` for the next page, when there is one. */
  async history(
    thread_id: string,
    { limit, before, metadata, checkpoint, select }: History,
    access: RowFilter,
  ): Promise<PageOf<JsonPart> & { next: string | undefined }> {
    const thread = await this.#thread(thread_id, access);
    if (checkpoint?.checkpoint_id) {
      const rows = [await this.get(thread_id, checkpoint, access, { select })];
      return { rows, hasMore: false, isCut: false, next: undefined };
    }
    const checkpoint_ns = checkpoint?.checkpoint_ns ?? '';
    const of = { thread_id, checkpoint_ns, before };
    let found = await this.#find(of, limit, metadata);
    const shared = found.rows.length === 0 ? memoryNamespace(checkpoint_ns) : undefined;
    if (shared !== undefined) found = await this.#find({ ...of, checkpoint_ns: shared }, limit, metadata);
    if (found.rows.length === 0) await this.#reader.assertThere(thread);
    const trees = found.rows.map(stateAtCheckpoint);
    const { rows, isCut } = await this.#reader.states(thread, trees, toSelection(select));
    return {
      rows,
      hasMore: isCut || found.hasMore,
      isCut: isCut || found.isCut,
      next: found.rows[rows.length - 1]?.checkpoint.checkpoint_id,
    };
  }

  /** The checkpoints of a page. A filter by metadata reads pages of its own until enough checkpoints match. */
  async #find(
    of: { thread_id: string; checkpoint_ns: string; before: string | undefined },
    limit: number,
    metadata: Record<string, unknown> | undefined,
  ): Promise<PageOf<StoredCheckpoint>> {
    const { checkpoints } = this.#storage;
    if (!metadata) return checkpoints.historyPage({ ...of, limit });
    const rows: StoredCheckpoint[] = [];
    let before = of.before;
    for (let page = 0; page < historyPagesMax; page++) {
      const found = await checkpoints.historyPage({ ...of, before, limit: historyPage });
      for (const row of found.rows) {
        if (!contains(JSON.parse(row.checkpoint.metadata), metadata)) continue;
        if (rows.length === limit) return { rows, hasMore: true, isCut: false };
        rows.push(row);
      }
      if (!found.hasMore) break;
      before = found.rows.at(-1)?.checkpoint.checkpoint_id;
    }
    return { rows, hasMore: false, isCut: false };
  }

  /** Merges metadata into that of the newest checkpoint. Throws `conflict` while runs of the thread are in flight. */
  async patchMetadata(
    thread_id: string,
    metadata: Record<string, unknown>,
    access: RowFilter,
  ): Promise<void> {
    const given = Object.entries(metadata).filter(([key]) => !ownKeys.has(key));
    const merge = (stored: Record<string, unknown>) => ({ ...stored, ...Object.fromEntries(given) });
    const outcome = await this.#storage.checkpoints.patchMetadata(thread_id, merge, access);
    if (outcome === 'missing') throw notFound('Thread', thread_id);
    if (outcome === 'busy')
      throw new Problem('conflict', 'Thread is busy: a run is pending or running on it');
    if (outcome === 'empty') throw new Problem('not_found', `Thread ${thread_id} has no checkpoint`);
  }

  /** Writes values as a node would have. On an earlier checkpoint this creates a fork. */
  async update(
    thread_id: string,
    update: StateUpdate,
    at: CheckpointSelector,
    by: Updater & { access: RowFilter },
  ): Promise<UpdatedState> {
    return this.apply(await this.#thread(thread_id, by.access), [{ updates: [update] }], at, by);
  }

  /** Applies supersteps in order. Throws `conflict` while runs of the thread are in flight. */
  async apply(
    thread: ThreadRow,
    supersteps: Superstep[],
    at: CheckpointSelector,
    { keys, assistantAccess }: Updater,
  ): Promise<UpdatedState> {
    const { thread_id, blob_space, metadata, config } = thread;
    let { removals } = thread;
    const graph_id = metadata['graph_id'];
    if (typeof graph_id !== 'string') {
      throw new Problem(
        'bad_request',
        `Thread ${thread_id} has no graph ID: create a run on it, or set metadata.graph_id`,
      );
    }
    // A client may have written any value there.
    const named = metadata['assistant_id'];
    const defaultId = defaultAssistantId(graph_id);
    const assistant_id = typeof named === 'string' && isUuid(named) ? named.toLowerCase() : defaultId;
    const assistant = await this.#storage.assistants.find(
      assistant_id,
      assistant_id === defaultId ? everyRow : assistantAccess,
    );
    const command = {
      thread_id,
      graph_id,
      blob_space,
      config: mergeConfigs({ thread_id, graph_id, assistant_id, ...keys }, assistant?.config, config),
      metadata: { graph_id, assistant_id },
      checkpoint: {
        checkpoint_ns: at.checkpoint_ns ?? '',
        ...(at.checkpoint_id ? { checkpoint_id: at.checkpoint_id } : {}),
      },
      supersteps: supersteps.map((superstep) => superstep.updates),
    };
    for (let tries = 1; ; tries++) {
      try {
        const checkpoint = await this.#dispatcher.pool.update({
          ...command,
          removals,
          update_id: randomUUID(),
        });
        return { checkpoint: checkpoint as UpdatedState['checkpoint'] };
      } catch (error) {
        const retry = error instanceof Problem && error.code === 'conflict' && tries < updateTries;
        if (!retry || (await this.#storage.runs.listInFlight(thread_id)).length > 0) {
          // The error may be due to a deletion of the thread while the executor read it.
          await this.#reader.assertThere(thread);
          throw error;
        }
        ({ removals } = await this.#thread(thread_id, everyRow));
      }
    }
  }

  async #thread(thread_id: string, access: RowFilter): Promise<ThreadRow> {
    const row = await this.#storage.threads.find(thread_id, access);
    if (!row) throw notFound('Thread', thread_id);
    return row;
  }
}
