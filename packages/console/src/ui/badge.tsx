import type { ReactNode } from 'react';
import { runStatusNames, type RunStatus, type ThreadStatus } from '../api/statuses.ts';

type Tone = 'green' | 'red' | 'amber' | 'blue' | 'grey';

const runTones: Record<RunStatus, Tone> = {
  pending: 'grey',
  running: 'blue',
  success: 'green',
  error: 'red',
  timeout: 'red',
  interrupted: 'grey',
};

const traceTones = { pending: 'blue', success: 'green', error: 'red' } as const satisfies Record<
  string,
  Tone
>;

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

/** The status of a trace, which the API calls pending while it has no end. */
export const TraceBadge = ({ status }: { status: keyof typeof traceTones }): ReactNode => (
  <span
    className="badge"
    data-tone={traceTones[status]}
    title={status === 'pending' ? 'status pending' : undefined}
  >
    {status === 'pending' ? 'running' : status}
  </span>
);

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
