import { expect, it } from 'vitest';
import { startedBefore } from './stuck-runs.tsx';

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
