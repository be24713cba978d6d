// What the runs of a killed worker lose: time, turns that are repeated, attempts.
import type { Client } from '@svc/sdk';
import type { Measured } from './processes.ts';
import { percentile } from './report.ts';

export interface WorkerLoss {
  /** Unix milliseconds. */
  atMs: number;
}

/** Kills the server process of a worker and its executors at once, as the loss of a machine does. */
export const killWorker = (worker: Measured): WorkerLoss => {
  const pids = worker.processIds();
  const atMs = Date.now();
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  return { atMs };
};

/** Of the runs of these threads, each of which has one. */
export const describeLoss = async (
  client: Client,
  threadIds: string[],
  { atMs }: WorkerLoss,
): Promise<string[]> => {
  const runs = [];
  for (const thread_id of threadIds) runs.push(...(await client.runs.list(thread_id)));
  const moved = runs.filter(({ lost_attempts = [] }) =>
    lost_attempts.some(({ at }) => Date.parse(at) >= atMs),
  );
  const gaps = moved.map(({ started_at }) => Date.parse(started_at ?? '') - atMs);
  const charged = runs.flatMap(({ lost_attempts = [] }) => lost_attempts.filter((lost) => lost.charged));
  return [
    `the killed worker executed ${moved.length} runs, which ended in ${countBy(moved.map(({ status }) => status))}`,
    `from the kill until another worker continued them, p50 and longest: ${percentile(gaps, 0.5)}, ${Math.max(...gaps)} ms`,
    `attempts charged, of all runs: ${charged.length}`,
  ];
};

const countBy = (names: string[]): string =>
  [...new Set(names)].map((name) => `${name} ${names.filter((each) => each === name).length}`).join(', ');
