import { expect, it } from 'vitest';
import { BulkJob, type BulkProgress } from './bulk-job.ts';
import type { BulkOperation, BulkRun, MatchingPage } from './bulk-operation.ts';

const runsOf = (thread: string, count: number): BulkRun[] =>
  Array.from({ length: count }, (_, n) => ({
    run_id: `${thread}-${n}`,
    thread_id: thread,
    assistant_id: 'assistant',
    status: 'pending',
    created_at: '2026-01-01T00:00:00Z',
  }));

/** Pages in turn; the cursor of a page is its number. */
const jobOf = (operation: BulkOperation, ...pages: BulkRun[][]) => {
  const pageAt = (at: number): MatchingPage => ({
    runs: pages[at] ?? [],
    next: at + 1 < pages.length ? String(at + 1) : undefined,
  });
  const read = (cursor = '0') => Promise.resolve(pageAt(Number(cursor)));
  return new BulkJob({ id: 'job', action: 'cancel', operation, first: pageAt(0), read });
};

const succeed: BulkOperation = (runs, report) => {
  for (const run of runs) report(run);
  return Promise.resolve();
};

it('works on page after page, a thread at a time', async () => {
  const threads: string[][] = [];
  const operation: BulkOperation = (runs, ...rest) => {
    threads.push(runs.map(({ run_id }) => run_id));
    return succeed(runs, ...rest);
  };
  const job = jobOf(operation, [...runsOf('a', 2), ...runsOf('b', 1)], [], runsOf('a', 1));
  expect(job.progress()).toMatchObject({ phase: 'running', done: 0, left: 3, hasMore: true });
  await job.run();
  expect(threads).toEqual([['a-0', 'a-1'], ['b-0'], ['a-0']]);
  expect(job.progress()).toMatchObject({ phase: 'finished', done: 4, failed: 0, left: 0, hasMore: false });
});

it('counts failures by reason and keeps the first runs of each', async () => {
  const operation: BulkOperation = (runs, report) => {
    runs.forEach((run, at) => report(run, at === 0 ? undefined : at === 1 ? 'gone' : 'ended'));
    return Promise.resolve();
  };
  const job = jobOf(operation, runsOf('a', 12));
  await job.run();
  const { done, failed, failures } = job.progress();
  expect([done, failed]).toEqual([1, 11]);
  expect(failures.map(({ reason, count, runs }) => [reason, count, runs.length])).toEqual([
    ['gone', 1, 1],
    ['ended', 10, 5],
  ]);
});

it('puts reasons beyond the first twenty into one', async () => {
  const operation: BulkOperation = (runs, report) => {
    for (const run of runs) report(run, `Run ${run.run_id} was not found`);
    return Promise.resolve();
  };
  const job = jobOf(operation, runsOf('a', 50));
  await job.run();
  const { failures } = job.progress();
  expect(failures).toHaveLength(21);
  expect(failures.at(-1)).toMatchObject({ reason: 'Other reasons', count: 30 });
});

it('stops after the requests that were sent, and leaves the rest alone', async () => {
  const open: (() => void)[] = [];
  const operation: BulkOperation = async (runs, ...rest) => {
    await new Promise<void>((resolve) => open.push(resolve));
    await succeed(runs, ...rest);
  };
  const threads = ['a', 'b', 'c', 'd', 'e', 'f'].flatMap((thread) => runsOf(thread, 1));
  const job = jobOf(operation, threads, runsOf('g', 1));
  const phases: BulkProgress['phase'][] = [];
  job.subscribe(() => phases.push(job.progress().phase));
  const ended = job.run();
  await expect.poll(() => open.length).toBe(4);
  job.stop();
  for (const resolve of open) resolve();
  await ended;
  expect(job.progress()).toMatchObject({ phase: 'stopped', done: 4, left: 2, hasMore: true });
  expect(new Set(phases)).toEqual(new Set(['stopping', 'stopped']));
});

it('stops with the error when the next page cannot be read', async () => {
  const error = new Error('the server cannot be reached');
  const job = new BulkJob({
    id: 'job',
    action: 'retry',
    operation: succeed,
    first: { runs: runsOf('a', 1), next: '1' },
    read: () => Promise.reject(error),
  });
  await job.run();
  expect(job.progress()).toMatchObject({ phase: 'stopped', done: 1, left: 0, hasMore: true, error });
});
