import { ApiError } from '@svc/sdk';
import { expect, it } from 'vitest';
import { type BulkClient, type BulkRun, matchingMax, operationOf, readerOf } from './bulk-operation.ts';

const run = (id: string, second = 0): BulkRun => ({
  run_id: id,
  thread_id: 'thread',
  assistant_id: 'assistant',
  status: 'error',
  created_at: new Date(second * 1_000).toISOString(),
});

const perform = async (
  action: 'cancel' | 'retry',
  runs: Partial<Record<keyof BulkClient['runs'], unknown>>,
  of: BulkRun[],
  isStopped = () => false,
) => {
  const reports: (string | undefined)[][] = [];
  const operation = operationOf({ runs } as unknown as BulkClient, action, { jobId: 'job', pauseMs: 1 });
  await operation(of, ({ run_id }, reason) => reports.push([run_id, reason]), isStopped);
  return reports;
};

it('runs of a thread are cancelled by one request; those that had ended are named', async () => {
  const requests: unknown[] = [];
  const cancelMany = (request: unknown) => {
    requests.push(request);
    return Promise.resolve({
      runs: [
        { run_id: 'a', outcome: 'cancelled' },
        { run_id: 'b', outcome: 'over' },
        { run_id: 'c', outcome: 'stopping' },
      ],
    });
  };
  expect(await perform('cancel', { cancelMany }, [run('a'), run('b'), run('c')])).toEqual([
    ['a', undefined],
    ['b', 'The run had already ended.'],
    ['c', undefined],
  ]);
  expect(requests).toEqual([{ threadId: 'thread', runIds: ['a', 'b', 'c'] }]);
});

it('when no run of a thread is in flight, each has the reason that the error names', async () => {
  const detail = [
    { loc: ['body', 'run_ids', 0], msg: '', type: 'over' },
    { loc: ['body', 'run_ids', 1], msg: '', type: 'not_found' },
  ];
  const cancelMany = () => Promise.reject(new ApiError(404, { detail }, 'id'));
  expect(await perform('cancel', { cancelMany }, [run('a'), run('b')])).toEqual([
    ['a', 'The run had already ended.'],
    ['b', 'The run was not found on its thread.'],
  ]);
});

it('a request is sent again when the server is busy', async () => {
  let requests = 0;
  const cancelMany = () =>
    ++requests < 3
      ? Promise.reject(new ApiError(429, { message: 'too many requests' }, 'id'))
      : Promise.resolve({ runs: [] });
  expect(await perform('cancel', { cancelMany }, [run('a')])).toEqual([['a', undefined]]);
  expect(requests).toBe(3);
});

it('runs are retried one after the other, the oldest first, under a key of the job and the run', async () => {
  const created: unknown[] = [];
  const get = (_: string, id: string) =>
    id === 'lost'
      ? Promise.reject(new ApiError(404, { message: 'Run lost not found' }, 'id'))
      : Promise.resolve({ kwargs: { input: id, webhook: 'https://example.com' } });
  const create = (...given: unknown[]) => (created.push(given), Promise.resolve({}));
  expect(await perform('retry', { get, create }, [run('b', 2), run('lost', 1), run('a', 0)])).toEqual([
    ['a', undefined],
    ['lost', 'Run lost not found'],
    ['b', undefined],
  ]);
  expect(created).toEqual(
    ['a', 'b'].map((id) => [
      'thread',
      'assistant',
      { input: id, stream_resumable: true },
      { idempotencyKey: `job:${id}` },
    ]),
  );
});

it('runs that are left when a retry is stopped are not reported', async () => {
  let created = 0;
  const get = () => Promise.resolve({ kwargs: {} });
  const create = () => Promise.resolve(created++);
  const reports = await perform('retry', { get, create }, [run('a'), run('b', 1)], () => created > 0);
  expect(reports).toEqual([['a', undefined]]);
});

const matching = (n: number, status: BulkRun['status'] = 'pending'): BulkRun => ({
  run_id: `run-${n}`,
  thread_id: `thread-${n}`,
  assistant_id: 'assistant',
  status,
  created_at: new Date(n * 1_000).toISOString(),
});

type Search = Parameters<typeof readerOf>[0]['runs']['searchPage'];
type Request = NonNullable<Parameters<Search>[0]>;

/** A server that returns pages with these numbers of runs, one after another. */
const serverOf = (...sizes: number[]) => {
  const requests: Request[] = [];
  let at = 0;
  const searchPage = (request: Request = {}) => {
    requests.push(request);
    const runs = Array.from({ length: sizes[at] ?? 0 }, (_, n) => matching(n));
    at += 1;
    return Promise.resolve({ runs, next: at < sizes.length ? `page-${at}` : undefined });
  };
  return { client: { runs: { searchPage: searchPage as unknown as Search } }, requests };
};

it('a page goes on where the server has ended one early', async () => {
  const { client, requests } = serverOf(3, 0, 2);
  const read = readerOf(client, 'cancel', { kind: 'filter', filter: { graph: 'agent' } }, 0);
  const page = await read();
  expect(page.runs).toHaveLength(5);
  expect(page.next).toBeUndefined();
  expect(requests.map(({ cursor, limit }) => [cursor, limit])).toEqual([
    [undefined, 1_000],
    ['page-1', 997],
    ['page-2', 997],
  ]);
});

it('a page ends after as many runs as the server allows, with the cursor of the rest', async () => {
  const { client } = serverOf(600, 400, 7);
  const read = readerOf(client, 'cancel', { kind: 'filter', filter: {} }, 0);
  const page = await read();
  expect([page.runs.length, page.next]).toEqual([matchingMax, 'page-2']);
  expect((await read(page.next)).runs).toHaveLength(7);
});

it('the statuses of the filter are restricted to those of the action, newest first whatever the list shows', async () => {
  const { client, requests } = serverOf(0, 0);
  const filter = { status: ['pending', 'error'] as BulkRun['status'][], since: '1h', sort: 'asc' } as const;
  await readerOf(client, 'cancel', { kind: 'filter', filter }, 3_600_000)();
  expect(requests[0]).toMatchObject({
    status: ['pending'],
    sort_order: 'desc',
    created_after: '1970-01-01T00:00:00.000Z',
  });
});

it('runs are restricted to those that ended in the range of the filter', async () => {
  const { client, requests } = serverOf(0);
  const filter = { ended_from: '2026-01-31T12:00:00.000Z', ended_to: '2026-01-31T12:01:00.000Z' };
  await readerOf(client, 'retry', { kind: 'filter', filter }, 0)();
  expect(requests[0]).toMatchObject({ ended_after: filter.ended_from, ended_before: filter.ended_to });
});

it('nothing is read when all runs of the filter have ended', async () => {
  const { client, requests } = serverOf(1);
  const read = readerOf(client, 'retry', { kind: 'filter', filter: { status: ['success'] } }, 0);
  expect(await read()).toEqual({ runs: [], next: undefined });
  expect(requests).toEqual([]);
});

it('of selected runs, those with another status are left alone', async () => {
  const { client } = serverOf();
  const runs = [matching(1), matching(2, 'error'), matching(3, 'timeout'), matching(4, 'interrupted')];
  const read = readerOf(client, 'retry', { kind: 'rows', runs }, 0);
  expect((await read()).runs.map(({ run_id }) => run_id)).toEqual(['run-2', 'run-3']);
});
