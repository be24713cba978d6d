import { useMutation, useQueryClient, type UseMutationResult } from '@tanstack/react-query';
import type { Feedback, PlatformClient } from '@svc/sdk';
import { usePagedQuery, type PagedQuery } from '../api/paged-query.ts';
import type { FeedbackGiven } from './feedback-draft.ts';

const pageSize = 20;

const keyOf = (runId: string): string[] => ['traces', 'feedback', runId];

/** Feedback on a trace run, newest first. */
export const useFeedback = (client: PlatformClient, runId: string): PagedQuery<Feedback[]> =>
  usePagedQuery({
    queryKey: keyOf(runId),
    read: (offset: number = 0, call) =>
      client.traces.feedback({ run: [runId], limit: pageSize, offset }, call),
    next: (last, pages) => (last.length < pageSize ? undefined : pages.length * pageSize),
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
