// Periodic tasks that remove what runs leave, and that repair the queue.
import type { CheckpointStorage } from '../../storage/deployment/checkpoints/checkpoints.ts';
import type { PeriodicTask } from '../../jobs/periodic-tasks.ts';
import type { RunQueueStorage, RepairStep } from '../../storage/deployment/runs/run-queue.ts';
import type { RunLogStorage } from '../../storage/deployment/runs/run-log.ts';
import type { RunStorage } from '../../storage/deployment/runs/runs.ts';

const logsMax = 200;
const endingsMax = 5_000;
/** Longer than an executor repeats a flush (`repeatMs` of the commit queue). */
const endingsKeptMs = 60 * 60_000;
const cancelsMax = 1_000;
const minuteMs = 60_000;

/** `streamTtlMs`: how long the log of a run is kept after its end. */
export const runTasks = (
  {
    runs,
    runLog,
    runQueue,
    checkpoints,
  }: {
    runs: Pick<RunStorage, 'pruneCancels'>;
    runLog: RunLogStorage;
    checkpoints: Pick<CheckpointStorage, 'pruneEndings'>;
    runQueue: Pick<RunQueueStorage, 'count' | 'readyGraphs' | 'repairGraphs'>;
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
    name: 'forget stored ends',
    everyMs: minuteMs,
    batch: endingsMax,
    work: () => checkpoints.pruneEndings(endingsKeptMs, endingsMax),
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
