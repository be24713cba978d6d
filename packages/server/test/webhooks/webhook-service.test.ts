// Deliveries of a run that are listed while the run ends.
import { expect, it } from 'vitest';
import { WebhookService } from '../../src/deployment/webhooks/webhook-service.ts';
import { EgressGuard } from '../../src/net/guard.ts';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import { createStorage } from '../../src/storage/storage.ts';
import { testDatabase } from '../database.ts';
import { newAssistant, newRun } from '../runs/run-rows.ts';

it('the deliveries of a stateless run are found while it ends', async () => {
  await using db = await testDatabase();
  const { deliveries, runs, runLeases } = createStorage(db);
  const run = { ...newRun(await newAssistant(db), null), claim: true, webhook: 'http://127.0.0.1/' };
  const created = await runs.create(run);
  if (created.outcome !== 'created') throw new Error(created.outcome);
  const { thread_id, lease_token } = created;

  /** The first lookup sees the running run, the second the ended run. */
  let looks = 0;
  const look = async <T>(read: () => Promise<T>): Promise<T> => {
    looks += 1;
    if (looks === 2) await runLeases.stop({ id: run.run_id, lease_token }, 'success', 'as_stored', null);
    return read();
  };
  const webhooks = new WebhookService({
    storage: {
      deliveries: { ...deliveries, list: (...args) => look(() => deliveries.list(...args)) },
      runs: { ...runs, find: (...args) => look(() => runs.find(...args)) },
    },
    guard: new EgressGuard([]),
    rules: { headers: new Map(), secretHeaders: new Map(), secretDomains: [], url: {} },
  });
  expect(await webhooks.list(thread_id, run.run_id, everyRow)).toMatchObject([{ status: 'pending' }]);
  expect(looks).toBe(2);
  expect(await runs.find(run.run_id, thread_id, everyRow)).toBeUndefined();
});
