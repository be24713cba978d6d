import type { ReactNode } from 'react';
import { age, ahead, duration } from './duration.ts';
import { useNow } from './use-now.ts';

/** How long ago; the exact time is the title. */
export const Ago = ({ at }: { at: string }): ReactNode => (
  <time dateTime={at} title={at}>
    {age(useNow() - Date.parse(at))}
  </time>
);

/** How long until then; the exact time is the title. */
export const Until = ({ at }: { at: string }): ReactNode => (
  <time dateTime={at} title={at}>
    {ahead(Date.parse(at) - useNow())}
  </time>
);

/** How long since then, of what has not ended. */
export const Elapsed = ({ since }: { since: string }): ReactNode => (
  <time dateTime={since} title={since}>
    {duration(useNow() - Date.parse(since))}
  </time>
);

export const Took = ({ from, to }: { from: string; to: string }): ReactNode => (
  <span title={`${from} to ${to}`}>{duration(Date.parse(to) - Date.parse(from))}</span>
);
