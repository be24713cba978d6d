// The bulk action of this tab. It continues while other pages are shown, and its result stays until it is dismissed.
import { useQueryClient } from '@tanstack/react-query';
import { createContext, useContext, useMemo, useState, type ReactNode } from 'react';
import { refreshChanged } from '../api/refresh.ts';
import type { BulkJob } from './bulk-job.ts';

interface BulkJobs {
  job: BulkJob | undefined;
  start: (job: BulkJob) => void;
  dismiss: () => void;
}

const JobContext = createContext<BulkJobs | undefined>(undefined);

const askBeforeUnload = (event: BeforeUnloadEvent): void => event.preventDefault();

export const BulkJobProvider = ({ children }: { children: ReactNode }): ReactNode => {
  const queries = useQueryClient();
  const [job, setJob] = useState<BulkJob>();
  const jobs = useMemo(
    () => ({
      job,
      start: (started: BulkJob): void => {
        setJob(started);
        // The requests end with the page, so the browser asks before it is closed or loaded again.
        window.addEventListener('beforeunload', askBeforeUnload);
        void started.run().finally(() => {
          window.removeEventListener('beforeunload', askBeforeUnload);
          void refreshChanged(queries);
        });
      },
      dismiss: (): void => setJob(undefined),
    }),
    [job, queries],
  );
  return <JobContext value={jobs}>{children}</JobContext>;
};

export const useBulkJobs = (): BulkJobs => {
  const jobs = useContext(JobContext);
  if (!jobs) throw new Error('useBulkJobs() is only available below BulkJobProvider');
  return jobs;
};
