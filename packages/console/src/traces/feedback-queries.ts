import {
  useInfiniteQuery,
  useMutation,
  useQueryClient,
  type InfiniteData,
  type UseInfiniteQueryResult,
  type UseMutationResult,
} from '@tanstack/react-query';
import type { Feedback, PlatformClient } from '@svc/sdk';
import type { FeedbackGiven } from './feedback-draft.ts';

const pageSize = 20;

const keyOf = (runId: string): string[] => ['traces', 'feedback', runId];

/** Feedback on a trace run, newest first. */
export const useFeedback = (
  client: PlatformClient,
  runId: string,
): UseInfiniteQueryResult<InfiniteData<Feedback[]>> =>
  useInfiniteQuery({
    queryKey: keyOf(runId),
    queryFn: ({ signal, pageParam }) =>
      client.traces.feedback({ run: [runId], limit: pageSize, offset: pageParam }, { signal }),
    initialPageParam: 0,
    getNextPageParam: (last, pages) => (last.length < pageSize ? undefined : pages.length * pageSize),
    staleTime: 10_000,
  });

/** Stock clients name feedback of people in a page by this type. */
const source = { type: 'app', metadata: { page: 'console' } };

export const useAddFeedback = (
  client: PlatformClient,
  runId: string,
): UseMutationResult<Feedback, Error, FeedbackGiven> => {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (given: FeedbackGiven) =>
      client.traces.addFeedback({ ...given, run_id: runId, feedback_source: source }),
    onSuccess: () => queries.invalidateQueries({ queryKey: keyOf(runId) }),
  });
};
