import type { Logger } from 'pino';
import type { BackgroundWriteOptions } from '../../jobs/background-writes.ts';
import type { NotificationBus } from '../../jobs/notification-bus.ts';
import type { RunLogTail } from '../streams/run-log-tail.ts';
import type { RunEventHub } from '../streams/run-event-hub.ts';
import type { RunLeaseStorage } from '../../storage/deployment/runs/run-leases.ts';
import type { RunQueueStorage } from '../../storage/deployment/runs/run-queue.ts';
import type { RunStorage } from '../../storage/deployment/runs/runs.ts';
import type { AttemptLimits, ObserveAttempt } from './attempt.ts';
import type { UserKeys } from './run-command.ts';
import type { PoolOptions } from './executor-pool.ts';
import type { ExecutorLogLine, FlushTrouble, RunStatus } from './protocol.ts';

export interface DispatcherOptions extends Omit<PoolOptions, 'events'> {
  worker_id: string;
  leases: RunLeaseStorage;
  queue: Pick<RunQueueStorage, 'promote'>;
  runs: Pick<RunStorage, 'follow'>;
  streams: RunEventHub;
  users: UserKeys;
  tail: RunLogTail;
  notifications: NotificationBus;
  leaseMs: number;
  attemptsMax: number;
  limits: AttemptLimits;
  /** How often to look for runs that no notification announced. */
  pollMs: number;
  /** Called when a run has ended here, with the milliseconds of its last attempt. Must not throw. */
  onEnded: (status: RunStatus, ms: number) => void;
  observeAttempt?: ObserveAttempt | undefined;
  /** Called with files of modules that an executor loaded. */
  onModules?: ((files: string[]) => void) | undefined;
  /** Called with lines of the logs of executors. */
  onLogLine?: ((line: ExecutorLogLine) => void) | undefined;
  /** Called when a flush of an executor was not stored with the first try. */
  onFlushTrouble?: ((trouble: FlushTrouble) => void) | undefined;
  /** Called when a run could not be given back or ended with this try. */
  onWriteFailure?: BackgroundWriteOptions['onFailure'];
  logger: Logger;
}
