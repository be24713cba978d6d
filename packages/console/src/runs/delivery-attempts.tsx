import type { WebhookDelivery } from '@svc/sdk';
import type { ReactNode } from 'react';
import { duration } from '../ui/duration.ts';
import { Ago } from '../ui/time.tsx';
import { visibleText } from '../values/visible-text.ts';

/** Older attempts are no longer stored. */
const storedMax = 20;

/** How many attempts have an outcome. The API's `attempt` is not shown: it restarts when a failed delivery is sent again. */
export const attemptCount = ({ attempts }: Pick<WebhookDelivery, 'attempts'>): string =>
  `${attempts.length}${attempts.length < storedMax ? '' : '+'}`;

/** The attempts to deliver one end of a run, newest first: the last response says what is wrong now. */
export const DeliveryAttempts = ({ attempts }: { attempts: WebhookDelivery['attempts'] }): ReactNode => (
  <table className="table" aria-label="Attempts, newest first">
    <thead>
      <tr>
        <th scope="col">When</th>
        <th scope="col">Response</th>
        <th scope="col">Error</th>
        <th scope="col" className="number">
          Took
        </th>
      </tr>
    </thead>
    <tbody>
      {attempts.toReversed().map(({ at, status, error, ms }) => (
        <tr key={at} style={{ cursor: 'default' }}>
          <td>
            <Ago at={at} />
          </td>
          <td>{status ?? 'none'}</td>
          <td className="wide">{visibleText(error ?? '')}</td>
          <td className="number">{duration(ms)}</td>
        </tr>
      ))}
    </tbody>
  </table>
);
