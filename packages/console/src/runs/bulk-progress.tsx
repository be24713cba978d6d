// The progress of a bulk action, and its result afterwards.
import { Link } from '@tanstack/react-router';
import { type ReactNode, useSyncExternalStore } from 'react';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icons.tsx';
import { countOf, countText } from '../ui/number-text.ts';
import { ProgressBar } from '../ui/progress-bar.tsx';
import { ErrorNotice } from '../ui/states.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { useBulkJobs } from './bulk-job-provider.tsx';
import type { BulkFailure, BulkJob, BulkProgress } from './bulk-job.ts';
import { actionNames } from './bulk-operation.ts';
import './bulk.css';

export const BulkPanel = (): ReactNode => {
  const { job, dismiss } = useBulkJobs();
  return job && <BulkJobView key={job.id} job={job} onDismiss={dismiss} />;
};

const tones = { running: 'blue', stopping: 'amber', stopped: 'amber', finished: 'green' } as const;

const meanings = {
  cancel: 'Runs that were executing end as soon as their executors have stopped them.',
  retry: 'The new runs are on the threads of the originals.',
} as const;

const BulkJobView = ({ job, onDismiss }: { job: BulkJob; onDismiss: () => void }): ReactNode => {
  const progress = useSyncExternalStore(job.subscribe, job.progress);
  const { phase, done, failed, left, hasMore, failures, error } = progress;
  const isOver = phase === 'stopped' || phase === 'finished';
  const name = `${actionNames[job.action]} runs`;
  return (
    <section className="bulk" aria-label={name}>
      <div className="row">
        <h2>{name}</h2>
        <span className="badge" data-tone={tones[phase]}>
          {phase}
        </span>
        <span>
          {countOf(done)} done · {countOf(failed)} failed · {countOf(left)}
          {hasMore ? '+' : ''} left
        </span>
        <span className="spread row">
          {isOver ? (
            <Button onClick={onDismiss}>Dismiss</Button>
          ) : (
            <Button kind="danger" disabled={phase === 'stopping'} onClick={() => job.stop()}>
              <Icon name="stop" size={12} /> Stop
            </Button>
          )}
        </span>
      </div>
      <ProgressBar
        value={done + failed}
        max={Math.max(1, done + failed + left)}
        label={`Progress: ${name}`}
      />
      {/* Screen readers are told of the end, not of every run. */}
      <p role="status" className={isOver ? 'muted' : 'visually-hidden'}>
        {isOver && `${outcomeOf(progress)} ${done > 0 ? meanings[job.action] : ''}`}
      </p>
      <ErrorNotice error={error} />
      {failures.length > 0 && <Failures failures={failures} />}
    </section>
  );
};

const outcomeOf = ({ phase, left, hasMore }: BulkProgress): string => {
  if (phase === 'finished') return 'All runs were processed.';
  return hasMore || left > 0
    ? `Stopped; ${countText(left, 'run', { hasMore })} ${left === 1 && !hasMore ? 'was' : 'were'} left alone.`
    : 'Stopped after the last run.';
};

const Failures = ({ failures }: { failures: readonly BulkFailure[] }): ReactNode => (
  <ul className="bulk-failures" aria-label="Runs that failed">
    {failures.map(({ reason, count, runs }) => (
      <li key={reason}>
        <strong>{countText(count, 'run')}:</strong> {visibleText(reason)}{' '}
        {runs.map(({ run_id: runId, thread_id: threadId }) => (
          <Link
            key={runId}
            to="/runs/$runId"
            params={{ runId }}
            search={{ thread: threadId }}
            className="mono"
            aria-label={`Run ${runId}`}
          >
            {runId.slice(0, 8)}
          </Link>
        ))}
        {count > runs.length && <span className="muted">and {countOf(count - runs.length)} more</span>}
      </li>
    ))}
  </ul>
);
