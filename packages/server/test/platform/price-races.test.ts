// Prices that change while they are looked up.
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { PriceService } from '../../src/tracing/prices/price-service.ts';
import { modelPriceStorage, type ModelPriceStorage } from '../../src/storage/tracing/model-prices.ts';
import type { TraceWrite } from '../../src/storage/tracing/traces.ts';
import { testDatabase } from '../database.ts';
import { sql } from '../exports/export-tables.ts';

const newRun = (): TraceWrite => ({
  id: randomUUID(),
  rank: 0,
  patched: 0,
  writes: ['1'],
  start_time: null,
  metadata: '{}',
  fields: { model: 'ours-1', run_type: 'llm', prompt_tokens: '1', completion_tokens: '0', total_tokens: '1' },
});

it('a price that changes during its lookup is not cached with its old value', async () => {
  await using db = await testDatabase();
  const tenant_id = randomUUID();
  await sql(db, `insert into workspaces (id, display_name) values ($1, 'w')`, [tenant_id]);
  const storage = modelPriceStorage(db);
  let meanwhile = (): Promise<unknown> => Promise.resolve();
  const ofModels: ModelPriceStorage['ofModels'] = async (...args) => {
    const found = await storage.ofModels(...args);
    await meanwhile();
    return found;
  };
  const prices = new PriceService({ ...storage, ofModels });
  const price = { name: 'ours', match_pattern: '^ours-', prompt_cost: '1', completion_cost: '1' };
  const { id } = await prices.create(tenant_id, price);
  meanwhile = () => prices.replace(tenant_id, id, { ...price, prompt_cost: '2' });
  await prices.price(tenant_id, [newRun()]);
  meanwhile = () => Promise.resolve();
  const run = newRun();
  await prices.price(tenant_id, [run]);
  expect(run.fields.total_cost).toBe('2');
});
