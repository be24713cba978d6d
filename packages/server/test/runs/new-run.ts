// A run as storage is asked for it, without a server: it waits on a thread that is there.
import { randomUUID } from 'node:crypto';
import { everyRow } from '../../src/storage/row-filter.ts';
import type { NewRun } from '../../src/storage/runs.ts';

export const newRun = (thread_id: string | null, assistant_id: string): NewRun => ({
  run_id: randomUUID(),
  thread_id,
  assistant_id,
  metadata: {},
  kwargs: '{}',
  multitask_strategy: 'enqueue',
  create_thread: thread_id === null,
  claim: false,
  leaseMs: 600_000,
  delayMs: 0,
  worker_id: randomUUID(),
  log: 'nothing',
  resumable: false,
  webhook: null,
  keyed: false,
  access: everyRow,
  assistantAccess: everyRow,
  sealed_user: null,
});
