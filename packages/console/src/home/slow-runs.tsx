// Runs that executed for much longer than other runs of their assistant.
import type { Assistant, Run } from '@svc/sdk';
import { Link } from '@tanstack/react-router';
import { useServerQuery } from '../api/client.tsx';
import { useAssistants } from '../api/queries.ts';
import { duration } from '../ui/duration.ts';
import { countText } from '../ui/number-text.ts';
import { dayMs, type Finding, type Findings, findingsMs } from './finding.tsx';

const comparedMax = 100;
const assistantsMax = 3;

export const useSlowRuns = (): Findings => {
  const assistants = useAssistants();
  const query = useServerQuery({
    queryKey: ['attention', 'slow'],
    read: async (client, call) => {
      const ended = await client.runs.search(
        {
          status: 'success',
          created_after: new Date(Date.now() - dayMs).toISOString(),
          limit: comparedMax,
          select: ['run_id', 'thread_id', 'assistant_id', 'started_at', 'ended_at'],
        },
        call,
      );
      return slowRuns(ended).slice(0, assistantsMax);
    },
    refetchInterval: findingsMs,
  });
  return {
    found: query.data?.map((slow) => findingOf(slow, assistants.data ?? [])),
    error: query.error,
  };
};

const findingOf = ({ assistantId, runs, medianMs }: SlowRuns, assistants: readonly Assistant[]): Finding => {
  const [slowest] = runs;
  if (!slowest) throw new Error('an assistant without a slow run is left out');
  const { run_id: runId, thread_id: threadId, ms } = slowest;
  const name = assistants.find(({ assistant_id: id }) => id === assistantId)?.name ?? assistantId.slice(0, 8);
  const took = `executed for ${runs.length === 1 ? '' : 'up to '}${duration(ms)}`;
  return {
    key: `slow ${assistantId}`,
    tone: 'amber',
    sentence: `${countText(runs.length, 'run')} of ${name} ${took}; the median is ${duration(medianMs)}`,
    links: (
      <>
        <Link to="/traces/$traceId" params={{ traceId: runId }} className="button">
          Open the trace of the slowest
        </Link>
        <Link
          to="/runs/$runId"
          params={{ runId }}
          search={{ thread: threadId, tab: 'timeline' }}
          className="button"
        >
          Open its timeline
        </Link>
      </>
    ),
  };
};

export type EndedRun = Pick<Run, 'run_id' | 'thread_id' | 'assistant_id' | 'started_at' | 'ended_at'>;

interface SlowRuns {
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
