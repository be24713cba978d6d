import type { BulkExport } from '@svc/sdk';
import { expect, it } from 'vitest';
import { failedByDestination } from './failing-exports.tsx';

const nowMs = Date.parse('2026-01-02T12:00:00Z');

const ended = (destination: string, status: string, hoursAgo: number): BulkExport => {
  const at = new Date(nowMs - hoursAgo * 3_600_000).toISOString();
  const error = status === 'FAILED' ? `error of ${hoursAgo} h ago` : null;
  const found = { bulk_export_destination_id: destination, status, error, finished_at: at, updated_at: at };
  return found as unknown as BulkExport;
};

it('groups failed exports by their destination, with the newest error', () => {
  const exports = [ended('a', 'FAILED', 1), ended('b', 'TIMEDOUT', 2), ended('a', 'FAILED', 3)];
  const found = failedByDestination(exports, nowMs);
  expect(found.map(({ destinationId, exports: of, reason }) => [destinationId, of.length, reason])).toEqual([
    ['a', 2, 'error of 1 h ago'],
    ['b', 1, 'The export has timed out.'],
  ]);
});

it('ignores failures before the newest success of the destination, and those of earlier days', () => {
  const exports = [ended('a', 'COMPLETED', 1), ended('a', 'FAILED', 2), ended('b', 'FAILED', 25)];
  expect(failedByDestination(exports, nowMs)).toEqual([]);
});

it('compares a failure with a success by their ends, whichever was created first', () => {
  const [failed, succeeded] = [ended('a', 'FAILED', 1), ended('a', 'COMPLETED', 2)];
  expect(failedByDestination([succeeded, failed], nowMs).map(({ exports: of }) => of)).toEqual([[failed]]);
  const [earlier, later] = [ended('a', 'FAILED', 2), ended('a', 'COMPLETED', 1)];
  expect(failedByDestination([earlier, later], nowMs)).toEqual([]);
});
