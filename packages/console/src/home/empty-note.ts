import type { Findings } from './finding.tsx';

/** The line of the panel without a finding. Undefined when nothing could be read: the panel names what that is. */
export const emptyNote = (
  sources: readonly Pick<Findings, 'found' | 'error' | 'unexamined'>[],
): string | undefined => {
  if (sources.some(({ found, error }) => found === undefined && error === null)) return 'Reading…';
  if (sources.every(({ found }) => found === undefined)) return undefined;
  return sources.every(({ error, unexamined }) => error === null && unexamined === undefined)
    ? 'Nothing: no run is stuck, has failed or was much slower than others, nobody is asked, no cron or delivery is failing.'
    : 'Nothing was found in what was read.';
};
