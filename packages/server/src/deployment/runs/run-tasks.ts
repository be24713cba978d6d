// Periodic tasks that remove what runs, crons and webhooks leave, and that repair the queue.
import type { PeriodicTask } from '../../jobs/periodic-tasks.ts';
import type { CronStorage } from '../../storage/deployment/crons.ts';
import type { RunQueueStorage, RepairStep } from '../../storage/deployment/run-queue.ts';
import type { RunLogStorage } from '../../storage/deployment/run-log.ts';
import type { RunStorage } from '../../storage/deployment/runs.ts';
import type { DeliveryStorage } from '../../storage/deployment/webhook-deliveries.ts';

const logsMax = 200;
const cancelsMax = 1_000;
const ticksMax = 1_000;
const minuteMs = 60_000;
const deliveriesMax = 1_000;
const deliveriesKeptMs = 7 * 24 * 60 * minuteMs;

/** `streamTtlMs`: how long the log of a run is kept after its end. */
export const runTasks = (
  {
    runs,
    runLog,
    runQueue,
    crons,
    deliveries,
  }: {
    runs: Pick<RunStorage, 'pruneCancels'>;
    runLog: RunLogStorage;
    runQueue: Pick<RunQueueStorage, 'count' | 'readyGraphs' | 'repairThreads' | 'repairGraphs'>;
    crons: Pick<CronStorage, 'prune'>;
    deliveries: Pick<DeliveryStorage, 'deleteEnded'>;
  },
  streamTtlMs: number,
): PeriodicTask[] => [
  {
    name: 'forget logs of runs',
    everyMs: Math.max(1_000, Math.min(streamTtlMs / 4, minuteMs)),
    batch: logsMax,
    work: () => runLog.prune(streamTtlMs, logsMax),
  },
  {
    name: 'count pending runs',
    everyMs: 10_000,
    work: async () => {
      await runQueue.count();
      return 0;
    },
  },
  {
    name: 'repair threads that wait',
    everyMs: minuteMs,
    batch: Infinity,
    work: (signal) => walk((after) => runQueue.repairThreads(after), signal),
  },
  {
    name: 'repair queues of graphs',
    everyMs: 10 * minuteMs,
    batch: Infinity,
    work: async (signal) => {
      let total = 0;
      for (const graph_id of await runQueue.readyGraphs())
        total += await walk((after) => runQueue.repairGraphs(graph_id, after), signal);
      return total;
    },
  },
  {
    name: 'forget ticks of crons',
    everyMs: 10 * minuteMs,
    batch: ticksMax,
    work: () => crons.prune(ticksMax),
  },
  {
    name: 'forget webhooks that were sent',
    everyMs: 10 * minuteMs,
    batch: deliveriesMax,
    work: () => deliveries.deleteEnded(deliveriesKeptMs, deliveriesMax),
  },
  {
    name: 'forget cancels of runs',
    everyMs: 10 * minuteMs,
    work: async () => {
      await runs.pruneCancels(cancelsMax);
      return 0;
    },
  },
];

/** Executes a repair step by step, to the end of the queue. Returns how many were repaired. */
const walk = async (
  repair: (after: string | null) => Promise<RepairStep>,
  signal: AbortSignal,
): Promise<number> => {
  let total = 0;
  let after: string | null = null;
  do {
    const { last, repaired } = await repair(after);
    after = last;
    total += repaired;
  } while (after !== null && !signal.aborted);
  return total;
};
