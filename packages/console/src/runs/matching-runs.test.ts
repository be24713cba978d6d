import { expect, it } from 'vitest';
import { type BulkRun, matchingMax, readerOf } from './bulk-operation.ts';

const run = (n: number, status: BulkRun['status'] = 'pending'): BulkRun => ({
  run_id: `run-${n}`,
  thread_id: `thread-${n}`,
  assistant_id: 'assistant',
  status,
  created_at: new Date(n * 1_000).toISOString(),
});

type Search = Parameters<typeof readerOf>[0]['runs']['searchPage'];
type Request = NonNullable<Parameters<Search>[0]>;

/** A server whose pages hold the given numbers of runs, in turn. */
const serverOf = (...sizes: number[]) => {
  const requests: Request[] = [];
  let at = 0;
  const searchPage = (request: Request = {}) => {
    requests.push(request);
    const runs = Array.from({ length: sizes[at] ?? 0 }, (_, n) => run(n));
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

it('nothing is read for a filter whose runs have ended', async () => {
  const { client, requests } = serverOf(1);
  const read = readerOf(client, 'retry', { kind: 'filter', filter: { status: ['success'] } }, 0);
  expect(await read()).toEqual({ runs: [], next: undefined });
  expect(requests).toEqual([]);
});

it('of selected runs, those with another status are left alone', async () => {
  const { client } = serverOf();
  const runs = [run(1), run(2, 'error'), run(3, 'timeout'), run(4, 'interrupted')];
  const read = readerOf(client, 'retry', { kind: 'rows', runs }, 0);
  expect((await read()).runs.map(({ run_id }) => run_id)).toEqual(['run-2', 'run-3']);
});
