import type { Run, Thread } from '@svc/sdk';

export type RunStatus = Run['status'];
export type ThreadStatus = Thread['status'];

export const runStatuses = [
  'pending',
  'running',
  'success',
  'error',
  'timeout',
  'interrupted',
] as const satisfies RunStatus[];

export const threadStatuses = ['idle', 'busy', 'interrupted', 'error'] as const satisfies ThreadStatus[];

/** A run that has not ended. */
export const isOpen = (status: RunStatus): boolean => status === 'pending' || status === 'running';
