import type { ExportRun } from '@svc/sdk';
import { expect, it } from 'vitest';
import { lastErrorOf } from '../platform/export-status.ts';
import { sameErrors } from './partition-runs.tsx';

const run = (status: string, errors: Record<string, string> | null): ExportRun =>
  ({ status, errors }) as ExportRun;

it('the last error is the one of the attempt with the largest number', () => {
  const errors = { retry_0: 'first', retry_10: 'newest', retry_2: 'third' };
  expect(lastErrorOf(run('CREATED', errors))).toBe('newest');
  expect(lastErrorOf(run('CREATED', null))).toBeUndefined();
});

it('days with one reason are one sentence, whatever the ids of their requests', () => {
  const denied = (id: string) => ({ retry_0: `SlowDown: later (request ${id}).` });
  const runs = [
    run('CREATED', denied('a')),
    run('FAILED', { retry_0: 'NoSuchBucket' }),
    run('Failed', denied('b')),
    run('COMPLETED', denied('c')),
    run('CREATED', null),
  ];
  expect(sameErrors(runs)).toEqual([{ message: 'SlowDown: later (request a).', days: 2, isRetried: true }]);
});

it('a single day is a sentence only while it is retried', () => {
  const failed = { retry_0: 'QuotaExceeded' };
  expect(sameErrors([run('CREATED', failed)])).toEqual([
    { message: 'QuotaExceeded', days: 1, isRetried: true },
  ]);
  expect(sameErrors([run('FAILED', failed)])).toEqual([]);
});
