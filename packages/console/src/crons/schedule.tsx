// A schedule as an expression and in words.
import type { Cron } from '@svc/sdk';
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

/** A cron without a next run has ended: its `end_time` is over. */
export const CronState = ({ cron }: { cron: Cron }): ReactNode => {
  const [label, tone] = !cron.enabled
    ? (['paused', 'amber'] as const)
    : cron.next_run_date === null
      ? (['ended', 'grey'] as const)
      : (['enabled', 'green'] as const);
  return (
    <span className="badge" data-tone={tone}>
      {label}
    </span>
  );
};
