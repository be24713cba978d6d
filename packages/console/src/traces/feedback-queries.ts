import type { Feedback, PlatformClient } from '@svc/sdk';
import { usePagedQuery, type PagedQuery } from '../api/paged-query.ts';

const pageSize = 20;

export const feedbackKey = (runId: string): string[] => ['traces', 'feedback', runId];

/** Feedback on a trace run, newest first. */
export const useFeedback = (client: PlatformClient, runId: string): PagedQuery<Feedback[]> =>
  usePagedQuery({
    queryKey: feedbackKey(runId),
    read: (offset: number = 0, call) =>
      client.traces.feedback({ run: [runId], limit: pageSize, offset }, call),
    next: (last, pages) => (last.length < pageSize ? undefined : pages.length * pageSize),
    staleTime: 10_000,
  });
