// Runs that executed for much longer than other runs of their assistant.
import type { Run } from '@svc/sdk';

export type EndedRun = Pick<Run, 'run_id' | 'thread_id' | 'assistant_id' | 'started_at' | 'ended_at'>;

export interface SlowRuns {
  assistantId: string;
  /** The slowest first. */
  runs: (EndedRun & { ms: number })[];
  medianMs: number;
}

/** With fewer runs of an assistant, nothing is usual. */
const comparedMin = 5;
const factor = 3;
/** Faster runs are not worth a look. */
const slowMs = 2_000;

const medianOf = (sorted: readonly number[]): number => sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;

/** The assistants with the slowest runs first. */
export const slowRuns = (ended: readonly EndedRun[]): SlowRuns[] => {
  const byAssistant = new Map<string, SlowRuns['runs']>();
  for (const run of ended) {
    if (run.started_at === undefined || run.ended_at === undefined) continue;
    const ms = Date.parse(run.ended_at) - Date.parse(run.started_at);
    byAssistant.set(run.assistant_id, [...(byAssistant.get(run.assistant_id) ?? []), { ...run, ms }]);
  }
  return [...byAssistant]
    .filter(([, runs]) => runs.length >= comparedMin)
    .map(([assistantId, runs]) => {
      const slowestFirst = runs.toSorted((a, b) => b.ms - a.ms);
      const medianMs = medianOf(slowestFirst.map(({ ms }) => ms).toReversed());
      const slow = slowestFirst.filter(({ ms }) => ms >= Math.max(slowMs, factor * medianMs));
      return { assistantId, runs: slow, medianMs };
    })
    .filter(({ runs }) => runs.length > 0)
    .toSorted((a, b) => (b.runs[0]?.ms ?? 0) - (a.runs[0]?.ms ?? 0));
};
