// Many days of an export fail for one reason: a sentence for each reason instead of one for each day.
import type { ExportRun } from '@svc/sdk';
import { isOpenExport, statusOf } from '../platform/export-status.ts';
import { lastErrorOf } from '../platform/last-error.ts';

export interface SameError {
  /** As the store has reported it for the first of the days. */
  message: string;
  days: number;
  /** Whether further attempts follow. */
  isRetried: boolean;
}

/** Each request has another id, which makes equal reasons look different. */
const withoutRequest = (message: string): string => message.replaceAll(/\(request [^)]*\)/g, '');

/** The reasons that several partition runs have in common or that one is retried for, the most frequent first. */
export const sameErrors = (runs: readonly ExportRun[]): SameError[] => {
  const byReason = new Map<string, SameError>();
  for (const run of runs) {
    const message = ['completed', 'cancelled'].includes(statusOf(run)) ? undefined : lastErrorOf(run);
    if (message === undefined) continue;
    const reason = withoutRequest(message);
    const group = byReason.get(reason) ?? { message, days: 0, isRetried: false };
    byReason.set(reason, {
      ...group,
      days: group.days + 1,
      isRetried: group.isRetried || isOpenExport(run),
    });
  }
  return [...byReason.values()]
    .filter(({ days, isRetried }) => days > 1 || isRetried)
    .toSorted((a, b) => b.days - a.days);
};
