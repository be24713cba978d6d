import type { Job } from '@svc/sdk';
import { useState } from 'react';
import { useClient } from '../api/client.tsx';
import { type PagedQuery, usePagedQuery } from '../api/paged-query.ts';
import { pageSize } from '../ui/paging.tsx';
import { isLive } from './job-kinds.ts';

const pollMs = { live: 1_000, otherwise: 10_000 };

/** The jobs of the caller, newest first, without previews. Those of other tabs are among them. */
export const useJobs = (): PagedQuery<Job[]> => {
  const client = useClient();
  return usePagedQuery<Job[], number>({
    queryKey: ['jobs'],
    read: (offset = 0, call) => client.jobs.list({ limit: pageSize, offset }, call),
    next: (last, pages) => (last.length === pageSize ? pages.length * pageSize : undefined),
    refetchInterval: ({ state }) => (state.data?.pages.flat().some(isLive) ? pollMs.live : pollMs.otherwise),
  });
};

export interface WatchedJob {
  /** The job that was started on this page, or that was in progress when it was opened. It stays when it has ended. */
  job: Job | undefined;
  watch: (id: string | undefined) => void;
  /** Kinds of which no other job can be started now. */
  liveKinds: readonly Job['kind'][];
}

export const useWatchedJob = (kinds: readonly Job['kind'][]): WatchedJob => {
  const jobs = useJobs().data?.pages.flat() ?? [];
  const [id, watch] = useState<string>();
  const live = jobs.filter((job) => isLive(job) && kinds.includes(job.kind));
  if (id === undefined && live[0]) watch(live[0].job_id);
  return { job: jobs.find((job) => job.job_id === id), watch, liveKinds: live.map(({ kind }) => kind) };
};
