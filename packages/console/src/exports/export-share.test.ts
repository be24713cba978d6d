import type { BulkExport } from '@svc/sdk';
import { expect, it } from 'vitest';
import { shareOf } from './export-share.ts';

const progress = { percent: 97.2, runs_completed: 0, runs_total: 3 } as BulkExport['progress'];

it('an export that runs has a percentage', () => {
  expect(shareOf({ status: 'RUNNING', progress })).toEqual({ value: 97.2, max: 100, text: '97 %' });
});

it.each(['FAILED', 'TIMEDOUT', 'CANCELLED'] as const)('an export that is %s has completed days', (status) => {
  expect(shareOf({ status, progress })).toEqual({ value: 0, max: 3, text: undefined });
});
