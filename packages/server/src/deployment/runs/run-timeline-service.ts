// The timeline of a run.
import type { RunTimeline } from '@svc/contract';
import { notFound } from '@svc/contract/problem';
import type { RowFilter } from '../../storage/postgres/row-filter.ts';
import type { Storage } from '../../storage/storage.ts';
import { type NodeWrite, summaryOf } from '../../engine/checkpoints/checkpoint-summary.ts';
import { checkpointTimeMs } from '../../engine/checkpoints/checkpoint-ids.ts';
import type { OtherRun, StepRow, TimedRun } from '../../storage/deployment/runs/run-timeline.ts';

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

// When a run waited, and for what, its attempts and its steps: from its row, the other runs of its thread, and its checkpoints.
type Attempt = RunTimeline['attempts'][number];
type Wait = RunTimeline['waits'][number];
type Step = RunTimeline['steps'][number];

const isoOf = (time: string | number): string => new Date(time).toISOString();

export const attemptsOf = (run: TimedRun): Attempt[] => {
  const lost = run.lost_attempts.map(({ attempt, started_at, at, message, charged }): Attempt => ({
    attempt,
    from: isoOf(started_at),
    to: isoOf(at),
    outcome: 'lost',
    message,
    charged,
  }));
  const last = lastAttemptOf(run);
  return last ? [...lost, last] : lost;
};

/** Undefined when no attempt has started, or the newest one is among the lost ones: the run waits, or has ended while it waited. */
const lastAttemptOf = ({
  status,
  attempt,
  started_at,
  ended_at,
  lost_attempts,
}: TimedRun): Attempt | undefined => {
  if (started_at === null || status === 'pending') return undefined;
  const from = isoOf(started_at);
  const lost = lost_attempts.at(-1)?.started_at;
  if (lost !== undefined && isoOf(lost) === from) return undefined;
  if (ended_at === null) return { attempt, from, outcome: 'executing' };
  return { attempt, from, to: isoOf(ended_at), outcome: 'ended' };
};

/** How many attempts are not in the list. The lease token counts claims, and grows once more when the run ends while it is pending. */
export const omittedOf = ({ status, lease_token }: TimedRun, attempts: readonly Attempt[]): number => {
  const last = attempts.at(-1);
  const endedPending = status !== 'pending' && status !== 'running' && last?.outcome !== 'ended';
  return Math.max(0, lease_token - (endedPending ? 1 : 0) - attempts.length);
};

/** The first wait, and one behind each lost attempt. */
export const waitsOf = (run: TimedRun, attempts: readonly Attempt[], others: readonly OtherRun[]): Wait[] => {
  const starts = attempts.map(({ from }) => from);
  const waits = firstWaits(run, starts[0], others);
  for (const [at, { to, outcome }] of attempts.entries()) {
    if (outcome !== 'lost' || to === undefined) continue;
    const next = starts[at + 1] ?? endOf(run);
    waits.push({ reason: 'slot', from: to, ...(next === undefined ? {} : { to: next }) });
  }
  return waits.filter(({ from, to }) => to === undefined || to > from);
};

const endOf = ({ ended_at }: TimedRun): string | undefined =>
  ended_at === null ? undefined : isoOf(ended_at);

/** From the creation to the first attempt: first for the time, then for the thread, then for a slot. */
const firstWaits = (run: TimedRun, started: string | undefined, others: readonly OtherRun[]): Wait[] => {
  const end = started ?? endOf(run);
  const horizon = end ?? isoOf(run.read_at);
  const waits: Wait[] = [];
  let from = isoOf(run.created_at);
  const add = (reason: Wait['reason'], to: string, run_id?: string): void => {
    const isOpen = end === undefined && to >= horizon;
    waits.push({ reason, from, ...(isOpen ? {} : { to }), ...(run_id === undefined ? {} : { run_id }) });
    from = to;
  };
  const earliest = isoOf(run.not_before);
  if (earliest > from) add('time', earliest < horizon ? earliest : horizon);
  const [last] = others
    .map(({ run_id, started_at, ended_at }) => ({
      run_id,
      started: isoOf(started_at),
      ended: ended_at === null || isoOf(ended_at) > horizon ? horizon : isoOf(ended_at),
    }))
    .filter((other) => other.started < horizon && other.ended > from)
    .toSorted((a, b) => (a.ended < b.ended ? 1 : -1));
  if (last) add('thread', last.ended, last.run_id);
  if (from < horizon) add('slot', horizon);
  return waits;
};

/** `rows`: newest first. A step begins with the checkpoint before it, or with the attempt in which it was executed. */
export const stepsOf = (rows: readonly StepRow[], attempts: readonly Attempt[]): Step[] => {
  const oldestFirst = rows.toReversed();
  return oldestFirst.flatMap(({ checkpoint_id, step, source, wrote, planned }, at) => {
    const ms = checkpointTimeMs(checkpoint_id);
    if (ms === undefined) return [];
    const to = isoOf(ms);
    const begun = [
      checkpointTimeMs(oldestFirst[at - 1]?.checkpoint_id ?? ''),
      ...attempts.map(({ from }) => from),
    ]
      .flatMap((time) => (time === undefined ? [] : [isoOf(time)]))
      .filter((time) => time <= to)
      .toSorted()
      .at(-1);
    const nodes = nodesOf(wrote, source === 'loop' ? planned : null);
    return [{ checkpoint_id, step, source, nodes, from: begun ?? to, to }];
  });
};

/** The nodes that have written, and those that were planned: a node may write nothing. */
const nodesOf = (wrote: string | null, planned: string | null): string[] => {
  const writing = (JSON.parse(wrote ?? '[]') as NodeWrite[]).map(([node]) => node);
  return [...new Set([...writing, ...(JSON.parse(planned ?? '[]') as string[])])];
};

/** The nodes of the step after the newest one: they execute while the run is running. */
export const nextOf = (newest: StepRow | undefined): string[] => [
  ...new Set(summaryOf(newest ?? {})?.tasks.map(({ name }) => name)),
];
