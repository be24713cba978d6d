import type { ReactNode } from 'react';
import type { RunStatus, ThreadStatus } from '../api/statuses.ts';

const tones: Record<RunStatus | ThreadStatus, 'green' | 'red' | 'amber' | 'blue' | 'grey'> = {
  pending: 'grey',
  running: 'blue',
  busy: 'blue',
  success: 'green',
  idle: 'grey',
  interrupted: 'amber',
  error: 'red',
  timeout: 'red',
};

export const StatusBadge = ({ status }: { status: RunStatus | ThreadStatus }): ReactNode => (
  <span className="badge" data-tone={tones[status]}>
    {status}
  </span>
);
