// Many days of an export fail for one reason: a sentence for each reason instead of one for each day.
import type { ExportRun } from '@svc/sdk';
import { isOpenExport, statusOf } from './export-status.ts';

/** The error of the newest failed attempt of a partition run. */
export const lastErrorOf = ({ errors }: Pick<ExportRun, 'errors'>): string | undefined => {
  const attempts = Object.entries(errors ?? {}).map(
    ([name, message]) => [Number(/\d+$/.exec(name)?.[0] ?? -1), message] as const,
  );
  return attempts.toSorted(([one], [other]) => one - other).at(-1)?.[1];
};

export interface SameError {
  /** As the store has reported it for the first of the days. */
  message: string;
  days: number;
  /** Whether further attempts follow. */
  isRetried: boolean;
}

/** Each request has another id, which makes equal reasons look different. */
const withoutRequest = (message: string): string => message.replaceAll(/\(request [^)]*\)/g, '');

/** The reasons that several partition runs have in common, the most frequent first. */
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
  return [...byReason.values()].filter(({ days }) => days > 1).toSorted((a, b) => b.days - a.days);
};
