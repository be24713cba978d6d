import type { ReactNode } from 'react';
import { age, ahead, duration } from './duration.ts';
import { minuteText, timeText, timeTitle } from './time-text.ts';
import { useNow } from './use-now.ts';

const Time = ({ at, children }: { at: string; children: string }): ReactNode => (
  <time dateTime={at} title={timeTitle(at)}>
    {children}
  </time>
);

/** How long ago; the title has the time. */
export const Ago = ({ at }: { at: string }): ReactNode => (
  <Time at={at}>{age(useNow() - Date.parse(at))}</Time>
);

/** How long until then; the title has the time. */
export const Until = ({ at }: { at: string }): ReactNode => (
  <Time at={at}>{ahead(Date.parse(at) - useNow())}</Time>
);

/** The time in the chosen time zone, in narrow columns without seconds; the title also has it in UTC. */
export const LocalTime = ({ at, isShort = false }: { at: string; isShort?: boolean }): ReactNode => (
  <Time at={at}>{isShort ? minuteText(at) : timeText(at)}</Time>
);

/** How long ago or until then, and the time, for the facts of an object. */
export const Moment = ({ at }: { at: string }): ReactNode => {
  const isAhead = Date.parse(at) > useNow();
  return (
    <>
      {isAhead ? <Until at={at} /> : <Ago at={at} />}{' '}
      <span className="muted">
        <LocalTime at={at} />
      </span>
    </>
  );
};

/** How long since then, of what has not ended. */
export const Elapsed = ({ since }: { since: string }): ReactNode => (
  <Time at={since}>{duration(useNow() - Date.parse(since))}</Time>
);

export const Took = ({ from, to }: { from: string; to: string }): ReactNode => (
  <span title={`${timeText(from)} to ${timeText(to)}\nUTC: ${from} to ${to}`}>
    {duration(Date.parse(to) - Date.parse(from))}
  </span>
);
