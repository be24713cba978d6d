// The timeline of a run.
import type { RunTimeline } from '@svc/contract';
import { notFound } from '@svc/contract/problem';
import type { RowFilter } from '../../storage/postgres/row-filter.ts';
import type { Storage } from '../../storage/storage.ts';
import { attemptsOf, nextOf, omittedOf, stepsOf, waitsOf } from './timeline.ts';

const stepsMax = 1_000;
/** A run with such a status executes a step, or was stopped in one. */
const hasUnfinished = new Set<RunTimeline['status']>(['running', 'interrupted', 'error', 'timeout']);

export class RunTimelineService {
  readonly #runs: Pick<Storage['runs'], 'findTimed' | 'listOthers' | 'listSteps'>;

  constructor(storage: Pick<Storage, 'runs'>) {
    this.#runs = storage.runs;
  }

  /** Throws `not_found`. */
  async read(thread_id: string, run_id: string, access: RowFilter): Promise<RunTimeline> {
    const run = await this.#runs.findTimed(run_id, thread_id, access);
    if (!run) throw notFound('Run', run_id);
    const attempts = attemptsOf(run);
    const [others, rows] = await Promise.all([
      this.#runs.listOthers(run, attempts[0]?.from ?? run.ended_at),
      this.#runs.listSteps(run, stepsMax + 1),
    ]);
    const steps = rows.slice(0, stepsMax);
    const { status, created_at, read_at, ended_at } = run;
    return {
      run_id,
      thread_id,
      status,
      read_at,
      created_at,
      ...(ended_at === null ? {} : { ended_at }),
      waits: waitsOf(run, attempts, others),
      attempts,
      attempts_omitted: omittedOf(run, attempts),
      steps: stepsOf(steps, attempts),
      has_earlier_steps: rows.length > steps.length || steps.at(-1)?.is_first === false,
      executing: hasUnfinished.has(status) ? nextOf(steps[0]) : [],
    };
  }
}
