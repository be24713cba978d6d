import type { ExportRun } from '@svc/sdk';

/** The error of the newest failed attempt of a partition run. */
export const lastErrorOf = ({ errors }: Pick<ExportRun, 'errors'>): string | undefined => {
  const attempts = Object.entries(errors ?? {}).map(
    ([name, message]) => [Number(/\d+$/.exec(name)?.[0] ?? -1), message] as const,
  );
  return attempts.toSorted(([one], [other]) => one - other).at(-1)?.[1];
};
