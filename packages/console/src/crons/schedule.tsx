// A schedule as an expression and in words.
import cronstrue from 'cronstrue';
import type { ReactNode } from 'react';
import { visibleText } from '../ui/visible-text.ts';

/** `At 09:00, Monday through Friday`; undefined for an expression that is not complete. */
export const scheduleWords = (schedule: string): string | undefined => {
  try {
    return cronstrue.toString(schedule.trim(), { use24HourTimeFormat: true });
  } catch {
    // The server explains what is wrong with it.
    return undefined;
  }
};

export const Schedule = ({
  schedule,
  timezone,
}: {
  schedule: string;
  timezone: string | null;
}): ReactNode => (
  <>
    {scheduleWords(schedule)} <code>{visibleText(schedule)}</code>{' '}
    <span className="muted">{timezone ?? 'UTC'}</span>
  </>
);
