import type { Run, Thread, TraceRun, WebhookDelivery } from '@svc/sdk';

export type RunStatus = Run['status'];
export type ThreadStatus = Thread['status'];
export type DeliveryStatus = WebhookDelivery['status'];

export const runStatuses = [
  'pending',
  'running',
  'success',
  'error',
  'timeout',
  'interrupted',
] as const satisfies RunStatus[];

/**
 * The API calls a run `interrupted` that a person or a newer run has cancelled. A run that waits for an answer has ended
 * with `success`, and its thread is `interrupted`.
 */
export const runStatusNames: Record<RunStatus, string> = {
  pending: 'pending',
  running: 'running',
  success: 'success',
  error: 'error',
  timeout: 'timeout',
  interrupted: 'cancelled',
};

export const threadStatuses = ['idle', 'busy', 'interrupted', 'error'] as const satisfies ThreadStatus[];

export const deliveryStatuses = ['pending', 'delivered', 'failed'] as const satisfies DeliveryStatus[];

export const deliveryNames: Record<DeliveryStatus, string> = {
  pending: 'waiting',
  delivered: 'delivered',
  failed: 'failed',
};

export type TraceOutcome = TraceRun['status'] | 'cancelled';

/** The API has the status `error` for the trace of a cancelled run. Its error begins with this name. */
export const traceOutcome = ({ status, error }: Pick<TraceRun, 'status' | 'error'>): TraceOutcome =>
  status === 'error' && /^RunCancelled\b/.test(error ?? '') ? 'cancelled' : status;

/** A run that has not ended. */
export const isOpen = (status: RunStatus): boolean => status === 'pending' || status === 'running';
