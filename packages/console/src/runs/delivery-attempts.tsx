import type { WebhookDelivery } from '@svc/sdk';
import type { ReactNode } from 'react';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { duration } from '../ui/duration.ts';
import { Ago } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';

/** Older attempts are no longer stored. */
const storedMax = 20;

/** How many attempts have an outcome. The API's `attempt` is not shown: it restarts when a failed delivery is sent again. */
export const attemptCount = ({ attempts }: Pick<WebhookDelivery, 'attempts'>): string =>
  `${attempts.length}${attempts.length < storedMax ? '' : '+'}`;

const columns: readonly Column<WebhookDelivery['attempts'][number]>[] = [
  { name: 'When', cell: ({ at }) => <Ago at={at} /> },
  { name: 'Response', cell: ({ status }) => status ?? 'none' },
  { name: 'Error', className: 'wide', cell: ({ error }) => visibleText(error ?? '') },
  { name: 'Took', className: 'number', cell: ({ ms }) => duration(ms) },
];

/** The attempts to deliver one end of a run, newest first: the last response says what is wrong now. */
export const DeliveryAttempts = ({ attempts }: { attempts: WebhookDelivery['attempts'] }): ReactNode => (
  <DataTable
    label="Attempts, newest first"
    rows={attempts.toReversed()}
    columns={columns}
    keyOf={({ at }) => at}
  />
);
