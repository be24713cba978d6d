import type { PeriodicTask } from '../../jobs/periodic-tasks.ts';
import type { DeliveryStorage } from '../../storage/deployment/webhooks/webhook-deliveries.ts';

const deliveriesMax = 1_000;
const dayMs = 86_400_000;
/** How long a delivery is kept after its end, delivered or failed. */
const keptMs = 7 * dayMs;

export const webhookTasks = (deliveries: Pick<DeliveryStorage, 'deleteEnded'>): PeriodicTask[] => [
  {
    // The name is a key in the database.
    name: 'forget webhooks that were sent',
    everyMs: 600_000,
    batch: deliveriesMax,
    work: () => deliveries.deleteEnded(keptMs, deliveriesMax),
  },
];
