import type { Cron } from '@svc/sdk';
import type { ReactNode } from 'react';

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
