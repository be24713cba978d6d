import { ApiError } from '@svc/sdk';
import { expect, it } from 'vitest';
import { examine, startedBefore, unexaminedText, unlessDeleted } from './stuck-runs.tsx';

const run = (id: string, started_at?: string) => ({
  run_id: id,
  thread_id: 'thread',
  assistant_id: 'assistant',
  created_at: '2026-01-01T00:00:00.000Z',
  ...(started_at === undefined ? {} : { started_at }),
});

it('leaves out runs that have waited for long and started just now', () => {
  const runs = [run('long', '2026-01-01T00:00:01.000Z'), run('new', '2026-01-01T00:10:00.000Z'), run('none')];
  expect(startedBefore(runs, '2026-01-01T00:05:00.000Z').map(({ run_id: id }) => id)).toEqual(['long']);
});

type Reason = 'time' | 'worker' | 'thread' | 'deleted';

/** Pending runs, the oldest first, and how many of them were read. */
const pending = (...reasons: Reason[]) => {
  const read: number[] = [];
  const readRun = (index: number) => {
    read.push(index);
    const reason = reasons[index] ?? 'deleted';
    return Promise.resolve(
      reason === 'deleted'
        ? undefined
        : {
            run_id: `${index}`,
            thread_id: 'thread',
            assistant_id: 'assistant',
            created_at: '2026-01-01T00:00:00Z',
            waiting_for: { reason, message: reason },
          },
    );
  };
  const ids = reasons.map((_, index) => index);
  return { examine: () => examine(ids, readRun), read };
};

const many = (count: number, reason: Reason): Reason[] => Array.from({ length: count }, () => reason);

it('reads on behind runs that start at a set time', async () => {
  const { groups, hasMore, isPartial } = await pending(...many(20, 'time'), 'worker').examine();
  expect(groups.map(({ waiting, runs }) => [waiting.message, runs.length])).toEqual([['worker', 1]]);
  expect([hasMore, isPartial]).toEqual([false, false]);
});

it('groups runs by their reason', async () => {
  const { groups } = await pending('worker', 'thread', 'deleted', 'worker').examine();
  expect(groups.map(({ waiting, runs }) => [waiting.message, runs.map(({ run_id: id }) => id)])).toEqual([
    ['worker', ['0', '3']],
    ['thread', ['1']],
  ]);
});

it('stops reading when it has found enough, and reports that there are more', async () => {
  const runs = pending(...many(50, 'worker'));
  const found = await runs.examine();
  expect(found.groups[0]?.runs).toHaveLength(5);
  expect([found.hasMore, found.isPartial]).toEqual([true, false]);
  expect(runs.read.length).toBeLessThan(10);
});

it('does not report more runs when it has read all', async () => {
  expect(await pending(...many(5, 'worker')).examine()).toMatchObject({ hasMore: false, isPartial: false });
});

it('reports that runs were left out when those that it may read start at a set time', async () => {
  const found = await pending(...many(50, 'time')).examine();
  expect(found).toMatchObject({ groups: [], hasMore: false, isPartial: true });
  expect(unexaminedText(found)).toBe('Only the 50 oldest pending runs were examined.');
});

it('ignores a run that has been deleted, and no other error', async () => {
  const error = (status: number) => new ApiError(status, { message: 'refused' }, undefined);
  expect(await unlessDeleted(Promise.reject(error(404)))).toBeUndefined();
  await expect(unlessDeleted(Promise.reject(error(403)))).rejects.toThrow('403');
  await expect(unlessDeleted(Promise.reject(new TypeError('no network')))).rejects.toThrow('no network');
});
