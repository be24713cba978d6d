// What is known of a run that has ended: kept at the end of its stream, or read from its timeline after a reload.
import { useQuery, type QueryClient } from '@tanstack/react-query';
import type { Run } from '@svc/sdk';
import { useClient } from '../api/client.tsx';
import { isOpen } from '../api/statuses.ts';
import type { NodeActivity } from '../messages/fold-run.ts';
import { nodesOfTimeline } from './run-nodes.ts';
import type { RunTimes } from './use-run-stream.ts';

export interface EndedRun {
  nodes: ReadonlyMap<string, NodeActivity>;
  /** Undefined where this page has not seen the run. */
  times: RunTimes | undefined;
}

const keyOf = (runId: string | undefined) => ['playground', 'ended', runId];

/** The page shows the same run at once when the person returns to it. */
export const keepEnded = (queries: QueryClient, runId: string, ended: EndedRun): void => {
  queries.setQueryData(keyOf(runId), ended);
};

export const useEndedRun = (run: Run | undefined): EndedRun | undefined => {
  const client = useClient();
  const ended = run === undefined || isOpen(run.status) ? undefined : run;
  const query = useQuery({
    queryKey: keyOf(ended?.run_id),
    queryFn: async ({ signal }): Promise<EndedRun> => {
      const timeline = await client.runs.timeline(ended?.thread_id ?? '', ended?.run_id ?? '', { signal });
      return { nodes: nodesOfTimeline(timeline), times: undefined };
    },
    enabled: ended !== undefined,
    // It does not change any more.
    staleTime: Infinity,
  });
  return query.data;
};
