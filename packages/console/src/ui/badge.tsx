import type { TraceRun } from '@svc/sdk';
import type { ReactNode } from 'react';
import {
  runStatusNames,
  traceOutcome,
  type RunStatus,
  type ThreadStatus,
  type TraceOutcome,
} from '../api/statuses.ts';

type Tone = 'green' | 'red' | 'amber' | 'blue' | 'grey';

const runTones: Record<RunStatus, Tone> = {
  pending: 'grey',
  running: 'blue',
  success: 'green',
  error: 'red',
  timeout: 'red',
  interrupted: 'grey',
};

const traceTones: Record<TraceOutcome, Tone> = {
  pending: 'blue',
  success: 'green',
  error: 'red',
  cancelled: 'grey',
};

const threadTones: Record<ThreadStatus, Tone> = {
  busy: 'blue',
  idle: 'grey',
  interrupted: 'amber',
  error: 'red',
};

/** The status of a thread. */
export const StatusBadge = ({ status }: { status: ThreadStatus }): ReactNode => (
  <span className="badge" data-tone={threadTones[status]}>
    {status}
  </span>
);

/** The status of a trace, which the API calls pending while it has no end. The title has the status of the API where its name is another. */
export const TraceBadge = ({ of: run }: { of: Pick<TraceRun, 'status' | 'error'> }): ReactNode => {
  const outcome = traceOutcome(run);
  const name = outcome === 'pending' ? 'running' : outcome;
  return (
    <span
      className="badge"
      data-tone={traceTones[outcome]}
      title={name === run.status ? undefined : `status ${run.status}`}
    >
      {name}
    </span>
  );
};

/** The status of a run. The title has the status of the API where its name is another. */
export const RunBadge = ({ status }: { status: RunStatus }): ReactNode => {
  const name = runStatusNames[status];
  return (
    <span
      className="badge"
      data-tone={runTones[status]}
      title={name === status ? undefined : `status ${status}`}
    >
      {name}
    </span>
  );
};
