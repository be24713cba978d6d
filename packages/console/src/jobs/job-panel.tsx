// The progress of a job, and its result afterwards.
import type { Job } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { useClient } from '../api/client.tsx';
import { refreshChanged } from '../api/refresh.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icons.tsx';
import { countOf } from '../ui/number-text.ts';
import { ProgressBar } from '../ui/progress-bar.tsx';
import { ErrorNotice } from '../ui/states.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { isLive, jobName } from './job-kinds.ts';
import type { WatchedJob } from './job-queries.ts';
import { JobRows } from './job-rows.tsx';
import './jobs.css';

const tones: Record<Job['state'], string> = {
  preview: 'grey',
  running: 'blue',
  cancelling: 'amber',
  completed: 'green',
  cancelled: 'amber',
  failed: 'red',
};

export const JobBadge = ({ state }: Pick<Job, 'state'>): ReactNode => (
  <span className="badge" data-tone={tones[state]}>
    {state}
  </span>
);

/** The job of a list, until it is dismissed. */
export const JobPanel = ({ job, watch }: WatchedJob): ReactNode =>
  job && (
    <section key={job.job_id} className="job" aria-label={jobName(job)}>
      <div className="row">
        <h2>{jobName(job)}</h2>
        <JobBadge state={job.state} />
        <Link to="/jobs" search={{ sel: job.job_id }}>
          All jobs
        </Link>
        {!isLive(job) && (
          <span className="spread">
            <Button onClick={() => watch(undefined)}>Dismiss</Button>
          </span>
        )}
      </div>
      <JobProgress job={job} />
    </section>
  );

export const JobProgress = ({ job }: { job: Job }): ReactNode => {
  const { job_id: id, total, done, failed, skipped, error } = job;
  const client = useClient();
  const queries = useQueryClient();
  const isOver = !isLive(job);
  useEffect(() => {
    if (isOver) void refreshChanged(queries);
  }, [isOver, queries]);
  const cancel = useMutation({
    mutationFn: () => client.jobs.cancel(id),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['jobs'] }),
  });
  const left = total - done - failed - skipped;
  const counts = `${countOf(done)} done · ${countOf(failed)} failed · ${countOf(skipped)} skipped · ${countOf(left)} left`;
  return (
    <>
      <div className="row">
        <span>{counts}</span>
        {!isOver && (
          <span className="spread">
            <Button kind="danger" disabled={job.state === 'cancelling'} onClick={() => cancel.mutate()}>
              <Icon name="stop" size={12} /> Cancel the job
            </Button>
          </span>
        )}
      </div>
      <ProgressBar value={total - left} max={Math.max(1, total)} label={`Progress: ${jobName(job)}`} />
      {/* Screen readers announce the end only, not every row. */}
      <p role="status" className={isOver ? 'muted' : 'visually-hidden'}>
        {isOver && outcomes[job.state]} {error !== null && visibleText(error)}
      </p>
      <ErrorNotice error={cancel.error} />
      {failed + skipped > 0 && <JobRows job={job} />}
    </>
  );
};

const outcomes: Partial<Record<Job['state'], string>> = {
  completed: 'All rows were processed.',
  cancelled: 'The job was cancelled; the rows that are left stay as they are.',
  failed: 'The job could not continue.',
};
