// Runs that no executor of this process continues: they are ended here, or given back so that another worker continues them.
import { BackgroundWrites } from '../../jobs/background-writes.ts';
import type { Release } from '../../storage/deployment/runs/run-leases.ts';
import type { RunRow } from '../../storage/deployment/runs/run-rows.ts';
import type { Lease } from '../../storage/postgres/lease.ts';
import type { RunOutcome } from '../streams/run-event-hub.ts';
import { deleted } from '../streams/run-log-tail.ts';
import type { Attempt } from './attempt.ts';
import type { DispatcherOptions } from './dispatcher-options.ts';
import type { EndReport, RunError, RunStatus } from './protocol.ts';

type Options = Pick<
  DispatcherOptions,
  'worker_id' | 'leases' | 'runs' | 'streams' | 'tail' | 'logger' | 'onWriteFailure'
>;

/**
 * Why an attempt was lost here. `unstarted`: it was given back before it started, or its executor ended before it was ready. `executor_ended`:
 * its executor ended by itself. `executor_killed`: its executor was killed because of another run or request. `lease`: its lease could not be
 * renewed in time. `unstored`: its executor could not store its outcome.
 */
export type LossCause = 'unstarted' | 'executor_ended' | 'executor_killed' | 'lease' | 'unstored';

/** Runs without `cause` are given back as if they had not been started. */
export type GiveBack = Omit<Release, 'lost'> & { cause?: LossCause };

export class RunEndings {
  /** Lost attempts, by cause. */
  readonly losses = new Map<LossCause, number>();
  readonly writes: BackgroundWrites;
  readonly #options: Options;
  readonly #onReleased: () => void;

  /** `onReleased`: called when runs were given back and may be claimed again. */
  constructor(options: Options, onReleased: () => void) {
    const { logger, onWriteFailure: onFailure } = options;
    this.writes = new BackgroundWrites({ logger, message: 'failed to give back or end a run', onFailure });
    this.#options = options;
    this.#onReleased = onReleased;
  }

  /** Ends the stream of a run that was ended without an executor. A stream that is fed by the log gets the end from the log. */
  endStream({ run_id, status, error: text }: Pick<RunRow, 'run_id' | 'status' | 'error'>): void {
    const stream = this.#options.streams.find(run_id);
    if (!stream || stream.isFollowed) return;
    const error = JSON.parse(text ?? 'null') as RunOutcome['error'];
    if (error) stream.push(stream.nextId, [['error', JSON.stringify(error)]]);
    this.#options.streams.end(run_id, { status: status as RunStatus, error });
  }

  /**
   * Ends the stream of a run whose end its executor has reported. The end is stored by then. A stream that is fed by the log gets the end
   * from the log.
   */
  endReported({ run_id, status, values, error }: EndReport): void {
    const { streams } = this.#options;
    if (streams.find(run_id)?.isFollowed === true) return;
    streams.end(run_id, { status, error, ...(values === undefined ? {} : { values }) });
  }

  /** Ends the run of an attempt that had to be killed. */
  endKilled(attempt: Attempt): void {
    const { status, error } = attempt.killedOutcome;
    const text = error && JSON.stringify(error);
    this.#write([attempt], async () => {
      await this.#options.leases.stop(attempt, status, error ? 'error' : 'as_stored', text);
      this.endStream({ run_id: attempt.id, status, error: text });
    });
  }

  /** Ends a claimed run that cannot start. */
  endUnstartable(run: RunRow, error: RunError): void {
    const text = JSON.stringify(error);
    const lease = { id: run.run_id, lease_token: run.lease_token };
    this.#write([lease], async () => {
      await this.#options.leases.stop(lease, 'error', 'error', text);
      this.endStream({ ...run, status: 'error', error: text });
    });
  }

  /** Gives the runs back. Readers on this node then read the logs of the runs. */
  giveBack(attempts: Lease[], { cause, ...how }: GiveBack): void {
    if (attempts.length === 0) return;
    if (cause) this.losses.set(cause, (this.losses.get(cause) ?? 0) + attempts.length);
    const { leases, runs, streams, tail } = this.#options;
    this.#write(attempts, async () => {
      for (const { id } of attempts) {
        const stream = streams.find(id);
        if (!stream) continue;
        const status = await runs.follow(id, stream.streamed ? 'events' : 'outcome', stream.nextId);
        if (status === undefined) {
          stream.push(stream.nextId, [['error', JSON.stringify(deleted)]]);
          streams.end(id, { status: 'error', error: deleted });
        } else tail.follow(stream);
      }
      await leases.release(attempts, { ...how, lost: cause !== undefined });
      this.#onReleased();
    });
  }

  /** Gives back those of the runs that are stored as claimed by this process. `unstarted`: called before each try. */
  giveBackCreated(unstarted: () => string[]): void {
    const { leases, worker_id } = this.#options;
    void this.writes.start(async () => {
      await leases.releaseCreated(unstarted(), worker_id, 'the request that created the run failed');
      this.#onReleased();
    });
  }

  /** If the write is abandoned, another worker recovers the runs after their leases. Readers on this node then read the logs of the runs. */
  #write(leases: Lease[], write: () => Promise<void>): void {
    const { streams, tail } = this.#options;
    void this.writes.start(write).then((isStored) => {
      for (const { id } of isStored ? [] : leases) {
        const stream = streams.find(id);
        if (stream) tail.follow(stream);
      }
    });
  }

  /** Releases the leases when the server stops. A failure is logged: the leases expire. */
  async release(left: Lease[]): Promise<void> {
    if (left.length === 0) return;
    const { leases, logger } = this.#options;
    try {
      await leases.release(left, { charge: false, lost: false, reason: 'the server stopped' });
    } catch (error) {
      logger.error({ err: error }, 'failed to release the leases of runs; they will expire');
    }
  }
}
