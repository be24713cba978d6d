// Expiry of threads, store items, tickets and console sessions, and collection of blobs: the project's defaults and the periodic tasks.
import type { SvcJson } from '../config/project/svc-json.ts';
import type { PeriodicTask } from '../jobs/periodic-tasks.ts';
import type { TicketStorage } from '../storage/auth/tickets.ts';
import type { ExpiryDefaults, ExpiryStorage } from '../storage/deployment/threads/expiry.ts';
import type { PruneService } from './threads/prune-service.ts';

type Sections = Pick<SvcJson['raw'], 'checkpointer' | 'store'>;

const minuteMs = 60_000;
const intervalMinutes = 5;
const sweepLimit = 1_000;
/** Items, blob spaces and tickets that one round handles. */
const itemsMax = 5_000;
const blobSpacesMax = 100;
const ticketsMax = 5_000;
const sessionsMax = 5_000;

export const expiryDefaults = ({ checkpointer, store }: Sections): ExpiryDefaults => {
  const { strategy = 'delete', default_ttl: minutes } = checkpointer?.ttl ?? {};
  return {
    thread: minutes === undefined ? null : { strategy, minutes },
    item: store?.ttl?.default_ttl ?? null,
    refreshOnRead: store?.ttl?.refresh_on_read ?? true,
  };
};

export const expiryTasks = (
  { checkpointer, store }: Sections,
  {
    pruning,
    expiry,
    tickets,
    consoleSessions,
  }: {
    pruning: PruneService;
    expiry: ExpiryStorage;
    tickets: Pick<TicketStorage, 'deleteExpired'>;
    consoleSessions: { deleteExpired: (limit: number) => Promise<number> };
  },
): PeriodicTask[] => {
  const every = (minutes = intervalMinutes): number => Math.ceil(minutes * minuteMs);
  const limit = checkpointer?.ttl?.sweep_limit ?? sweepLimit;
  return [
    {
      name: 'expire threads',
      everyMs: every(checkpointer?.ttl?.sweep_interval_minutes),
      batch: limit,
      work: (signal) => pruning.expireThreads(limit, signal),
    },
    {
      name: 'expire items',
      everyMs: every(store?.ttl?.sweep_interval_minutes),
      batch: itemsMax,
      work: () => expiry.deleteItems(itemsMax),
    },
    {
      name: 'expire tickets',
      everyMs: minuteMs,
      batch: ticketsMax,
      work: () => tickets.deleteExpired(ticketsMax),
    },
    {
      name: 'expire console sessions',
      everyMs: every(),
      batch: sessionsMax,
      work: () => consoleSessions.deleteExpired(sessionsMax),
    },
    {
      name: 'collect values',
      everyMs: minuteMs,
      batch: blobSpacesMax,
      work: (signal) => pruning.collectBlobs(blobSpacesMax, signal),
    },
  ];
};
