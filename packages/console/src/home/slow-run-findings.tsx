import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Assistant } from '@svc/sdk';
import { useClient } from '../api/client.tsx';
import { useAssistants } from '../api/queries.ts';
import { duration } from '../ui/duration.ts';
import { countText } from '../ui/count-text.ts';
import { dayMs, findingsMs, type Finding, type Findings } from './finding.tsx';
import { slowRuns, type SlowRuns } from './slow-runs.ts';

const comparedMax = 100;
const assistantsMax = 3;

export const useSlowRuns = (): Findings => {
  const client = useClient();
  const assistants = useAssistants();
  const query = useQuery({
    queryKey: ['attention', 'slow'],
    queryFn: async ({ signal }) => {
      const ended = await client.runs.search(
        {
          status: 'success',
          created_after: new Date(Date.now() - dayMs).toISOString(),
          limit: comparedMax,
          select: ['run_id', 'thread_id', 'assistant_id', 'started_at', 'ended_at'],
        },
        { signal },
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
