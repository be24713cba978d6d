// Cancels runs. A pending run ends at once; for a running one, its executor is notified, on whichever node it is.
import { notFound, Problem } from '@svc/contract/problem';
import type { Logger } from 'pino';
import { onAbort } from '../../abort.ts';
import type { Authorizer } from '../../auth/authorization/authorizer.ts';
import type { Dispatcher } from '../../engine/dispatch/dispatcher.ts';
import type { RowFilter } from '../../storage/postgres/row-filter.ts';
import type { RunStorage } from '../../storage/deployment/runs/runs.ts';
import type { CancelAction, Cancelled } from '../../storage/deployment/runs/run-rows.ts';
import type { RunOutcomeReader } from './run-outcome-reader.ts';

/** Maximum number of runs that one request cancels. */
const manyMax = 1_000;
const requested = 'cancelled by request';
const taken = 'taken: another run has absorbed the input';

export interface CancelOutcome {
  run_id: string;
  outcome: 'cancelled' | 'stopping' | 'over' | 'not_found';
}

/** The filter of the threads on which the caller may cancel runs. */
export const cancelAccess = async (
  authorizer: Authorizer,
  { thread_id }: { thread_id?: string | undefined },
  action: CancelAction = 'interrupt',
): Promise<RowFilter> =>
  (await authorizer.authorize('threads:update', { thread_id, metadata: undefined, action })).access;

const faultsMax = 100;

const outcomeOf = (outcome: Cancelled['outcome'] | undefined): CancelOutcome['outcome'] =>
  outcome === undefined ? 'not_found' : outcome === 'ended' ? 'cancelled' : outcome;

export class RunCanceller {
  readonly #runs: RunStorage;
  readonly #dispatcher: Pick<Dispatcher, 'cancel'>;
  readonly #outcomes: RunOutcomeReader;
  readonly #logger: Logger;

  constructor(
    runs: RunStorage,
    dispatcher: Pick<Dispatcher, 'cancel'>,
    outcomes: RunOutcomeReader,
    logger: Logger,
  ) {
    this.#runs = runs;
    this.#dispatcher = dispatcher;
    this.#outcomes = outcomes;
    this.#logger = logger;
  }

  /**
   * With `wait`, resolves when the run has ended and writes nothing any more. `isTaken`: another run has absorbed its input. Throws
   * `not_found` also when it had ended before.
   */
  async cancel(
    thread_id: string,
    run_id: string,
    {
      action,
      wait,
      isTaken = false,
      access,
    }: { action: CancelAction; wait: boolean; isTaken?: boolean; access: RowFilter },
  ): Promise<void> {
    const reason = isTaken ? taken : requested;
    const [cancelled] = await this.#cancel(thread_id, [run_id], { action, reason, access });
    if (!cancelled) throw notFound('Run', run_id);
    if (cancelled.outcome === 'over') throw new Problem('not_found', `Run ${run_id} has ended`);
    if (wait) await this.#outcomes.untilEnded(run_id);
  }

  /** Cancels the given runs of the thread; returns what happened to each. */
  async cancelEach(
    thread_id: string,
    run_ids: string[],
    { action, access }: { action: CancelAction; access: RowFilter },
  ): Promise<CancelOutcome[]> {
    const cancelled = await this.#cancel(thread_id, run_ids, { action, reason: requested, access });
    const byId = new Map(cancelled.map(({ run_id, outcome }) => [run_id, outcome]));
    return run_ids.map((run_id) => ({ run_id, outcome: outcomeOf(byId.get(run_id)) }));
  }

  /** Cancels the given runs that are in flight on the thread. Throws `not_found` when none is. */
  async cancelNamed(
    thread_id: string,
    run_ids: string[],
    { action, access }: { action: CancelAction; access: RowFilter },
  ): Promise<CancelOutcome[]> {
    const outcomes = await this.cancelEach(thread_id, [...new Set(run_ids)], { action, access });
    if (outcomes.some(({ outcome }) => outcome === 'cancelled' || outcome === 'stopping')) return outcomes;
    throw new Problem('not_found', 'None of these runs is in flight on this thread', {
      faults: outcomes.slice(0, faultsMax).map(({ run_id, outcome }, at) => ({
        loc: ['body', 'run_ids', at],
        msg: `Run ${run_id} ${outcome === 'over' ? 'has ended' : 'was not found on this thread'}`,
        type: outcome,
      })),
    });
  }

  /** Cancels a stateless run that is in flight; does nothing when there is none. */
  async cancelStateless(run_id: string, access: RowFilter): Promise<void> {
    const row = await this.#runs.find(run_id, undefined, access);
    if (row) await this.#cancel(row.thread_id, [run_id], { action: 'interrupt', reason: requested, access });
  }

  /** Cancels every run with one of these statuses. Throws `not_found` when there is none. */
  async cancelAll(
    statuses: ('pending' | 'running')[],
    { action, access }: { action: CancelAction; access: RowFilter },
  ): Promise<void> {
    const found = await this.#runs.listAllInFlight(statuses, manyMax, access);
    if (found.length === 0) throw new Problem('not_found', 'No run has one of these statuses');
    const byThread = new Map<string, string[]>();
    for (const { thread_id, run_id } of found) {
      byThread.set(thread_id, [...(byThread.get(thread_id) ?? []), run_id]);
    }
    const how = { action, reason: requested, access };
    for (const [thread_id, run_ids] of byThread) await this.#cancel(thread_id, run_ids, how);
  }

  /** Cancels the run when its client disconnects, even if that happened before the run was stored. */
  cancelOnDisconnect(
    signal: AbortSignal,
    { thread_id, run_id }: { thread_id: string; run_id: string },
    access: RowFilter,
  ): void {
    onAbort(signal, () => this.#abandon(thread_id, run_id, access));
  }

  /** Errors are logged, since the client is gone. */
  #abandon(thread_id: string, run_id: string, access: RowFilter): void {
    const how = { action: 'interrupt', reason: 'the client disconnected', access } as const;
    this.#cancel(thread_id, [run_id], how).catch((error: unknown) =>
      this.#logger.error({ err: error, run_id }, 'failed to cancel the run of a disconnected client'),
    );
  }

  async #cancel(
    thread_id: string,
    run_ids: string[],
    how: { action: CancelAction; reason: string; access: RowFilter },
  ) {
    const cancelled = await this.#runs.cancel(thread_id, run_ids, how);
    for (const { run_id, outcome } of cancelled) if (outcome === 'stopping') this.#dispatcher.cancel(run_id);
    return cancelled;
  }
}
