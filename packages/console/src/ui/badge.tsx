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

const tones: Record<ThreadStatus | 'pending' | 'success', Tone> = {
  pending: 'grey',
  busy: 'blue',
  success: 'green',
  idle: 'grey',
  interrupted: 'amber',
  error: 'red',
};

/** The status of a thread, or of a trace. */
export const StatusBadge = ({ status }: { status: keyof typeof tones }): ReactNode => (
  <span className="badge" data-tone={tones[status]}>
    {status}
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
