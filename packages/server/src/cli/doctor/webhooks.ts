// Webhooks that could not be delivered so far.
import type { FailingDeliveries } from '../../storage/deployment/webhook-deliveries.ts';
import { plural } from '../output/quantities.ts';
import { ok, type Outcome, warning } from './finding.ts';

const countMax = 1_000;

export const webhooksOutcome = ({ count, origin, error }: FailingDeliveries): Outcome => {
  if (count === 0) return ok('No webhook delivery is failing.');
  const subject =
    count > countMax ? `More than ${plural(countMax, 'webhook')}` : `${plural(count, 'webhook')}`;
  return warning(
    `${subject} could not be delivered yet and will be retried. The last error, of ${origin}: ${error}.`,
    'Make the receiver respond with 2xx, and check SVC_EGRESS_ALLOW when it is in a private network.',
  );
};
