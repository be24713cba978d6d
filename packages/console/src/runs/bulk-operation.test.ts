import { ApiError } from '@svc/sdk';
import { expect, it } from 'vitest';
import { type BulkClient, type BulkRun, operationOf } from './bulk-operation.ts';

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
