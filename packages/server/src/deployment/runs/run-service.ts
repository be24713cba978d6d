// Creates, reads and deletes runs. Events and outcomes are read in run-outcome-reader.ts, cancels are in run-canceller.ts.
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { setImmediate as turn } from 'node:timers/promises';
import { notFound, Problem } from '@svc/contract/problem';
import type { User } from '../../auth/principal/caller.ts';
import type { CreatedRun } from '../../api/call.ts';
import { objectText } from '../../api/json-text.ts';
import type { PageOf } from '../../api/pagination.ts';
import type { RunUsers } from '../../auth/sealed-users/run-users.ts';
import type { RunLogTail } from '../../engine/streams/run-log-tail.ts';
import type { RunEventHub, RunEventStream } from '../../engine/streams/run-event-hub.ts';
import type { Dispatcher } from '../../engine/dispatch/dispatcher.ts';
import { deleteRun } from './run-deletion.ts';
import { toRunCommand, type Audience } from '../../engine/dispatch/run-command.ts';
import { retry } from '../../backoff.ts';
import { isUuid } from '../../storage/postgres/uuid.ts';
import { everyRow, type RowFilter } from '../../storage/postgres/row-filter.ts';
import type {
  CreatedRun as StoredRun,
  NewRun,
  RunRow,
  RunSetting,
} from '../../storage/deployment/runs/run-rows.ts';
import { isRefused, isUnavailable } from '../../storage/postgres/sql-state.ts';
import { inputsMax } from '../../storage/deployment/runs/run-inputs.ts';
import type { Storage } from '../../storage/storage.ts';
import { nodeTtlMs, servedWithinMs } from '../../storage/deployment/workers.ts';
import type { WebhookService } from '../webhooks/webhook-service.ts';
import type { GrantedRun, RunGrant } from './run-grant.ts';
import { type RunFields, runText, selectedRunText } from './run-record.ts';
import type { RunRequest } from './run-request.ts';

/** A created run, and its stream on this node, which is kept until it is released or the run ends. */
export interface Created {
  run: RunFields;
  /** False when an earlier request with the same key created it. */
  isNew: boolean;
  stream: RunEventStream;
  release: () => void;
}

const longChars = 1_048_576;

/** How long runs are stored again after a failure, and the pause between tries. */
const insertTimes = { forMs: 10_000, pauseMs: { first: 100, max: 100 } };

type Stores = Pick<Storage, 'runLeases' | 'runs' | 'threads' | 'workers'>;

export class RunService {
  readonly #storage: Stores;
  readonly #dispatcher: Dispatcher;
  readonly #streams: RunEventHub;
  readonly #tail: RunLogTail;
  readonly #webhooks: Pick<WebhookService, 'accept'>;
  readonly #users: RunUsers;
  readonly #graphs: ReadonlySet<string>;
  readonly #onDeletionRepeated: () => void;

  constructor(parts: {
    storage: Stores;
    dispatcher: Dispatcher;
    streams: RunEventHub;
    tail: RunLogTail;
    webhooks: Pick<WebhookService, 'accept'>;
    users: RunUsers;
    graphs: ReadonlySet<string>;
    /** Called before the deletion of a run is repeated. */
    onDeletionRepeated: () => void;
  }) {
    this.#storage = parts.storage;
    this.#dispatcher = parts.dispatcher;
    this.#streams = parts.streams;
    this.#tail = parts.tail;
    this.#webhooks = parts.webhooks;
    this.#users = parts.users;
    this.#graphs = parts.graphs;
    this.#onDeletionRepeated = parts.onDeletionRepeated;
  }

  /**
   * Stores the run, and starts it when a slot and its thread are free. Without a thread id it is stateless. Results are produced only for
   * the receivers in `audience`. Throws InterruptsAnswered when the thread does not wait for the answer any more.
   */
  async create(
    thread_id: string | null,
    { request, grant, onCreated }: GrantedRun,
    audience: Audience = {},
  ): Promise<Created> {
    const run = this.#newRun(thread_id, request, grant, audience);
    // A long text takes time to render, and as much to send: the event loop does other work in between.
    if (run.kwargs.length > longChars) await turn();
    const stream = this.#streams.open(run.run_id, audience);
    const release = stream.retain();
    try {
      const created = await this.#insert(run, request);
      if (created.outcome === 'created') onCreated?.(createdRunOf(run));
      const record =
        created.outcome === 'exists'
          ? await this.#existing(run, created.thread_id, stream, created.sinceMs)
          : this.#begin(run, created, stream, grant.user, created.sinceMs);
      return { run: record, isNew: created.outcome === 'created', stream, release };
    } catch (error) {
      release();
      this.#giveBack([run], error);
      throw error;
    } finally {
      if (run.claim) this.#dispatcher.unreserve();
    }
  }

  /** Creates stateless background runs in one transaction: all of them, or none. */
  async createAll(granted: GrantedRun[]): Promise<RunFields[]> {
    const runs: NewRun[] = [];
    const releases: (() => void)[] = [];
    try {
      for (const { request, grant } of granted) runs.push(this.#newRun(null, request, grant, {}));
      const { outcomes, sinceMs } = await this.#insertAll(runs, granted).catch((error: unknown) => {
        this.#giveBack(runs, error);
        throw error;
      });
      const records: RunFields[] = [];
      const failures: unknown[] = [];
      for (const [at, run] of runs.entries()) {
        const created = outcomes[at];
        const stream = this.#streams.open(run.run_id);
        releases.push(stream.retain());
        try {
          if (created?.outcome === 'exists')
            records.push(await this.#existing(run, created.thread_id, stream, sinceMs));
          else if (created?.outcome === 'created') {
            granted[at]?.onCreated?.(createdRunOf(run));
            records.push(this.#begin(run, created, stream, granted[at]?.grant.user, sinceMs));
          }
        } catch (error) {
          // Of this run alone: the others are stored too, and start.
          this.#giveBack([run], error);
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
      return records;
    } finally {
      for (const release of releases) release();
      for (const { claim } of runs) if (claim) this.#dispatcher.unreserve();
    }
  }

  /** JSON text; for a pending run with what it waits for. Throws `not_found`. */
  async get(thread_id: string, run_id: string, access: RowFilter): Promise<string> {
    const row = await this.#storage.runs.find(run_id, thread_id, access);
    if (!row) throw notFound('Run', run_id);
    if (row.status !== 'pending') return runText(row);
    return runText(row, await this.#storage.runs.waiting(run_id, nodeTtlMs(this.#dispatcher.leaseMs)));
  }

  /** JSON texts, newest first. `select`: the requested fields. */
  async list(
    thread_id: string,
    page: {
      status?: string | undefined;
      select?: string[] | undefined;
      limit: number;
      offset: number;
    },
    access: RowFilter,
  ): Promise<PageOf<string>> {
    if (!(await this.#storage.threads.find(thread_id, access))) throw notFound('Thread', thread_id);
    const { rows, ...more } = await this.#storage.runs.list(thread_id, page, access);
    return { rows: rows.map((row) => selectedRunText(row, page.select)), ...more };
  }

  async delete(thread_id: string, run_id: string, access: RowFilter): Promise<void> {
    const parts = { runs: this.#storage.runs, onRepeated: this.#onDeletionRepeated };
    await deleteRun({ thread_id, run_id }, access, parts);
  }

  #newRun(thread_id: string | null, request: RunRequest, grant: RunGrant, audience: Audience): NewRun {
    const isTemporary = thread_id === null && !request.keep;
    const { key } = request;
    // Validated before a slot is reserved, since it may throw.
    const webhook = request.webhook === null ? null : this.#webhooks.accept(request.webhook);
    const sealed_user = this.#users.seal(grant.user);
    return {
      run_id: grant.run_id,
      thread_id: thread_id ?? (isTemporary ? null : randomUUID()),
      assistant_id: grant.assistant_id,
      metadata: request.metadata,
      kwargs: objectText(request.kwargs),
      multitask_strategy: request.multitask_strategy,
      create_thread: thread_id === null || request.if_not_exists === 'create',
      claim: request.delayMs === 0 && this.#dispatcher.reserve(),
      leaseMs: this.#dispatcher.leaseMs,
      delayMs: request.delayMs,
      worker_id: this.#dispatcher.worker_id,
      log: audience.streamed ? 'events' : audience.awaited ? 'outcome' : 'nothing',
      resumable: request.kwargs.stream_resumable === true,
      webhook,
      keyed: key !== undefined,
      access: grant.access,
      assistantAccess: grant.assistantAccess,
      sealed_user,
      graphs: [...this.#graphs],
      workerTtlMs: nodeTtlMs(this.#dispatcher.leaseMs),
      answered_state_at: request.answeredStateAt ?? null,
      input_of: request.inputOf,
    };
  }

  /** Starts a stored run here if it was claimed; otherwise connects the stream to its log. */
  #begin(
    run: NewRun,
    setting: RunSetting & { stopping: string[] },
    stream: RunEventStream,
    user: User | undefined,
    sinceMs: number,
  ): RunFields {
    for (const run_id of setting.stopping) this.#dispatcher.cancel(run_id);
    const { run_id, assistant_id, metadata, kwargs, multitask_strategy, webhook } = run;
    const { thread_id, status, created_at, lease_token, log } = setting;
    const isRunning = status === 'running';
    const temporary = run.thread_id === null;
    const row = { run_id, assistant_id, metadata, kwargs, temporary, attempt: isRunning ? 1 : 0 };
    if (isRunning) {
      const keys = this.#users.ofRun(user, { run_id, lease_token });
      const command = toRunCommand({ ...row, lease_token, log, webhook }, setting, stream, { keys });
      this.#dispatcher.start(command, sinceMs, { waitedMs: 0 });
    } else if (stream.awaited || stream.streamed) this.#tail.follow(stream);
    return {
      ...row,
      thread_id,
      status,
      multitask_strategy,
      created_at,
      updated_at: created_at,
      started_at: isRunning ? created_at : null,
      ended_at: null,
      error: null,
      cancel_reason: null,
      lost_attempts: [],
    };
  }

  /**
   * Gives back runs that may be stored as claimed by this process, and do not start because of the error. A refused run is not stored. A run
   * with a key may have been created, and started, by an earlier request.
   */
  #giveBack(runs: NewRun[], error: unknown): void {
    if (error instanceof Problem && error.code !== 'unavailable') return;
    const claimed = runs.filter(({ claim, keyed }) => claim && !keyed);
    this.#dispatcher.giveBackCreated(claimed.map(({ run_id }) => run_id));
  }

  /** Handles a repeated request for the same run. Throws `conflict` when the key was used for another run. */
  async #existing(
    run: NewRun,
    thread_id: string,
    stream: RunEventStream,
    sinceMs: number,
  ): Promise<RunFields> {
    const row = await this.#storage.runs.find(run.run_id, thread_id, everyRow);
    if (!row) throw new Problem('conflict', 'The run with this Idempotency-Key has just been deleted');
    const isSame =
      row.kwargs === run.kwargs &&
      row.assistant_id === run.assistant_id &&
      // jsonb does not keep the order of keys.
      isDeepStrictEqual(row.metadata, run.metadata);
    if (!isSame) throw new Problem('conflict', 'This Idempotency-Key was used for another run');
    const isStarted = !run.keyed && (await this.#startClaimed(row, stream, sinceMs));
    if (!isStarted && (stream.awaited || stream.streamed)) {
      await this.#storage.runs.follow(run.run_id, run.log);
      if (!this.#dispatcher.has(run.run_id)) this.#tail.follow(stream);
      else if (stream.streamed) this.#dispatcher.listen(run.run_id);
    }
    return row;
  }

  /**
   * Starts a run that was stored as claimed by this process, when the response of the insert was lost. Returns false when another claim
   * came first, or its lease has ended: then the run is claimed again.
   */
  async #startClaimed(row: RunRow, stream: RunEventStream, sinceMs: number): Promise<boolean> {
    const { run_id, worker_id, lease_token } = row;
    if (row.status !== 'running' || worker_id !== this.#dispatcher.worker_id) return false;
    const [setting] = await this.#storage.runLeases.settings([run_id]);
    if (setting?.lease_token !== lease_token || !this.#dispatcher.mayStart(run_id, sinceMs)) return false;
    const keys = this.#users.open(setting.sealed_user, row);
    const { webhook, cancelled } = setting;
    this.#dispatcher.start(toRunCommand({ ...row, webhook }, setting, stream, { keys }), sinceMs);
    if (cancelled) this.#dispatcher.cancel(run_id);
    return true;
  }

  async #insert(run: NewRun, request: RunRequest) {
    const created = await withRetries(run.keyed, async (keyed) => {
      const tried = await this.#storage.runs.create(keyed === run.keyed ? run : { ...run, keyed });
      return { ...tried, isOld: tried.outcome === 'exists' };
    });
    if (created.outcome === 'created' || created.outcome === 'exists') return created;
    throw await this.#refusal(created, run, request);
  }

  async #insertAll(runs: NewRun[], granted: GrantedRun[]) {
    const isKeyed = runs.some(({ keyed }) => keyed);
    const stored = await withRetries(isKeyed, async (keyed) => {
      const tried = await this.#storage.runs.createAll(runs.map((run) => ({ ...run, keyed })));
      return { ...tried, isOld: tried.outcomes.some(({ outcome }) => outcome === 'exists') };
    });
    if (stored.isStored) return stored;
    const at = stored.outcomes.length - 1;
    const [last, run, one] = [stored.outcomes[at], runs[at], granted[at]];
    if (!last || !run || !one || last.outcome === 'created' || last.outcome === 'exists')
      throw new Problem(
        'conflict',
        'This batch was accepted before, and some of its runs have ended since; nothing was created now',
      );
    const { code, message } = await this.#refusal(last, run, one.request);
    throw new Problem(code, `No run was created. Run ${at} of the batch: ${message}`);
  }

  async #refusal(
    refused: Exclude<StoredRun, { outcome: 'created' | 'exists' }>,
    run: NewRun,
    request: RunRequest,
  ): Promise<Problem> {
    switch (refused.outcome) {
      case 'no_assistant':
        return this.#graphs.has(request.assistant_id) || isUuid(request.assistant_id)
          ? new Problem('not_found', `No assistant found for ${JSON.stringify(request.assistant_id)}`)
          : new Problem(
              'not_found',
              `No assistant found for ${JSON.stringify(request.assistant_id)}. Available graphs: ${[...this.#graphs].join(', ')}`,
            );
      case 'no_graph':
        return this.#graphMissing(refused.graph_id);
      case 'no_thread':
        return notFound('Thread', run.thread_id ?? '');
      case 'outside':
        return new Problem(
          'forbidden',
          'The auth handler for threads:create_run returned a filter that the new thread or run does not pass. The handler must set the metadata that it filters by.',
        );
      case 'no_run':
        return notFound('Run', request.inputOf ?? '');
      case 'asked':
        return new Problem(
          'conflict',
          'The thread waits for an answer, which a run with this input would supersede. Answer with a run that has command.resume',
        );
      case 'full':
        return new Problem(
          'rate_limited',
          `${inputsMax} inputs wait on this thread. Send more when the run has taken some`,
        );
      case 'answered':
        return new InterruptsAnswered();
      case 'busy':
        return new Problem(
          'conflict',
          'Thread is already running a task. Wait for it to finish or choose a different multitask strategy.',
        );
    }
  }

  /** `unavailable` when a worker executed the graph recently, since it may come back; otherwise `not_found`. */
  async #graphMissing(graph_id: string): Promise<Problem> {
    const name = JSON.stringify(graph_id);
    return (await this.#storage.workers.hasServed(graph_id, servedWithinMs))
      ? new Problem('unavailable', `No live worker executes graph ${name} at the moment`)
      : new Problem(
          'not_found',
          `No worker executes graph ${name}. Available graphs: ${[...this.#graphs].join(', ')}`,
        );
  }
}

/**
 * Stores runs, and repeats that when the connection breaks. After a lost answer it is unknown whether they are stored, so later
 * tries look for their ids (`keyed`): each run is stored once.
 */
const withRetries = <T extends { isOld: boolean; sinceMs: number }>(
  isKeyed: boolean,
  store: (keyed: boolean) => Promise<T>,
): Promise<T> => {
  const startMs = performance.now();
  const when = (error: unknown): boolean => isUnavailable(error) && !isRefused(error);
  return retry(
    async (tries) => {
      const stored = await store(isKeyed || tries > 1);
      // A lease, if this process has it, may have begun with an earlier try.
      return stored.isOld ? { ...stored, sinceMs: startMs } : stored;
    },
    { ...insertTimes, when },
  );
};

const createdRunOf = ({ run_id, thread_id }: NewRun): CreatedRun => ({
  run_id,
  thread_id: thread_id ?? undefined,
});

/** A run answers interrupts at which its thread does not wait any more. */
export class InterruptsAnswered extends Problem {
  constructor() {
    super('conflict', 'The thread does not wait at these interrupts any more');
  }
}
