import type { BulkExport, ExportRun } from '@svc/sdk';
import type { ReactNode } from 'react';
import { statusLabels, statusOf, type ExportStatus } from '../platform/export-status.ts';

const tones: Record<ExportStatus, 'green' | 'red' | 'amber' | 'blue' | 'grey'> = {
  created: 'grey',
  running: 'blue',
  completed: 'green',
  failed: 'red',
  cancelled: 'grey',
  timedout: 'red',
  intervalscheduled: 'amber',
};

export const ExportBadge = ({ of: found }: { of: Pick<BulkExport | ExportRun, 'status'> }): ReactNode => {
  const status = statusOf(found);
  return (
    <span className="badge" data-tone={tones[status]}>
      {statusLabels[status]}
    </span>
  );
};
