// Ended runs and webhook senders, on a database without a server.
import { randomUUID } from 'node:crypto';
import { Secret } from '../../src/config/settings/secret.ts';
import { WebhookSender, type WebhookTimes } from '../../src/deployment/webhooks/webhook-sender.ts';
import type { WebhookRules } from '../../src/config/project/webhooks.ts';
import { NotificationBus } from '../../src/jobs/notification-bus.ts';
import { EgressGuard } from '../../src/net/guard.ts';
import type { Database } from '../../src/storage/postgres/database.ts';
import { deliveryStorage } from '../../src/storage/deployment/webhooks/webhook-deliveries.ts';
import { createLogger } from '../../src/telemetry/logger.ts';

export const secret = 'a secret of thirty-two characters or more';

export interface EndedRun {
  run_id: string;
  thread_id: string;
}

/** Ends a run in the database: its webhook is queued in the same transaction. */
export const endRun = async (
  db: Database,
  webhook: string | null,
  {
    values = '{"out":1}',
    error = null,
    thread_id = randomUUID(),
  }: { values?: string | null; error?: string | null; thread_id?: string } = {},
): Promise<EndedRun> => {
  const run = { run_id: randomUUID(), thread_id };
  await db.transact(async (tx) => {
    await tx.query(
      {
        name: 'test_run',
        text: `insert into runs (run_id, thread_id, assistant_id, status, kwargs, webhook, error, attempt)
          values ($1, $2, gen_random_uuid(), $3, $4, $5, $6, 1)`,
      },
      [run.run_id, run.thread_id, error ? 'error' : 'success', kwargs, webhook, error],
    );
    await tx.query({ name: 'test_queue', text: 'select queue_webhook($1, $2)' }, [run.run_id, values]);
  });
  return run;
};

/** Contains text that jsonb rejects. */
const kwargs = String.raw`{"input":{"text":"a\u0000b\ud800"},"stream_mode":["values"]}`;

export const fast: WebhookTimes = {
  timeoutMs: 10_000,
  leaseMs: 30_000,
  backoffMs: [5, 5, 5],
  pollMs: 20,
  graceMs: 1_000,
};

/** Resolves the host names of receivers, as many as a test needs, to this machine. */
const resolve = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]);

export const openSender = (
  db: Database,
  {
    allow = ['127.0.0.1'],
    rules = {},
    onLog = () => undefined,
    ...times
  }: Partial<WebhookTimes> & {
    allow?: string[];
    rules?: Partial<WebhookRules>;
    onLog?: (line: string) => void;
  } = {},
): WebhookSender =>
  new WebhookSender({
    deliveries: deliveryStorage(db),
    notifications: new NotificationBus(),
    guard: new EgressGuard(
      allow.map((host) => ({ host, port: undefined })),
      resolve,
    ),
    rules: {
      headers: new Map([['x-from', new Secret('svc')]]),
      secretHeaders: new Map(),
      secretDomains: [],
      url: {},
      ...rules,
    },
    secret: new Secret(secret),
    logger: createLogger({ level: 'info', format: 'json' }, { write: onLog }),
    times: { ...fast, ...times },
  });
