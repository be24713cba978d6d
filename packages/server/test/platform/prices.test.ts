// Costs of models, from the price table to the runs.
import { randomUUID } from 'node:crypto';
import type { ModelPrice } from '@svc/contract';
import { describe, expect, it } from 'vitest';
import { modelPriceStorage, type ModelPriceStorage } from '../../src/storage/tracing/model-prices.ts';
import type { TraceWrite } from '../../src/storage/tracing/traces.ts';
import { PriceService } from '../../src/tracing/prices/price-service.ts';
import { testDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { sql } from '../exports/export-tables.ts';
import { fixture } from '../fixture.ts';
import { startPlatform } from './platform-server.ts';
import { traceWrite } from './trace-write.ts';

const platform = fixture(() => startPlatform());

const used = (ls_model_name: string, usage: object, more: object = {}): object => ({
  name: 'model',
  run_type: 'llm',
  start_time: '2026-11-20T00:00:00Z',
  outputs: { usage_metadata: { input_tokens: 1_000, output_tokens: 100, total_tokens: 1_100, ...usage } },
  extra: { metadata: { ls_model_name, ls_provider: 'house' } },
  ...more,
});

const costs = async (run: object): Promise<unknown> => {
  const id = randomUUID();
  expect((await platform.call('POST', '/runs', { json: { id, ...run } })).status).toBe(202);
  return (await platform.call('GET', `/runs/${id}`)).body;
};

const create = async (price: object): Promise<ModelPrice> => {
  const { status, body } = await platform.call('POST', '/model-prices', { json: price });
  expect(status, JSON.stringify(body)).toBe(200);
  return body as ModelPrice;
};

const ours = { name: 'ours', match_pattern: '^ours-', prompt_cost: '0.0000011', completion_cost: 0.000_002 };

describe('a run of a model', () => {
  it('has the cost of its model', async () => {
    const usage = { input_token_details: { cache_read: 400 } };
    expect(await costs(used('gpt-4o-2024-08-06', usage))).toMatchObject({
      prompt_cost: '0.002',
      completion_cost: '0.001',
      total_cost: '0.003',
      prompt_cost_details: { cache_read: '0.0005' },
    });
    expect(await costs(used('gpt-4o-audio', {}))).toMatchObject({ total_cost: null });
    expect(await costs(used('gpt-4o', {}, { run_type: 'chain' }))).toMatchObject({ total_cost: null });
  });

  it('keeps the cost that it reports itself', async () => {
    expect(await costs(used('gpt-4o', { total_cost: 0.5 }))).toMatchObject({ total_cost: '0.5' });
  });

  it.each([
    ['model', 'tokens'],
    ['tokens', 'model'],
  ] as const)('is priced when %s and %s come in different batches', async (...order) => {
    const price = { name: 'other', match_pattern: '^other-', start_time: '2026-11-01T00:00:00Z' };
    await create({
      ...price,
      prompt_cost: '0.001',
      completion_cost: '0.002',
      prompt_cost_details: { cache_read: '0' },
    });
    const id = randomUUID();
    const usage = { input_token_details: { cache_read: 400 } };
    const { outputs, extra, ...start } = used('other-1', usage) as Record<string, unknown>;
    const parts = {
      model: { ...start, id, extra },
      tokens: { id, outputs, end_time: '2026-11-20T00:00:01Z' },
    };
    for (const what of order) {
      const way = what === 'model' ? 'post' : 'patch';
      const { status } = await platform.call('POST', '/runs/batch', { json: { [way]: [parts[what]] } });
      expect(status).toBe(202);
    }
    const run = (await platform.call('GET', `/runs/${id}`)).body;
    expect(run).toMatchObject({
      total_cost: '0.8',
      prompt_cost_details: { cache_read: '0' },
      prompt_token_details: { cache_read: 400 },
      end_time: '2026-11-20T00:00:01.000000Z',
      model: 'other-1',
    });
  });

  it('is priced when its end reports the tokens', async () => {
    const id = randomUUID();
    const { outputs, extra, ...start } = used('gpt-4o', {}) as Record<string, unknown>;
    await platform.call('POST', '/runs', { json: { id, ...start } });
    const end = { outputs, extra, end_time: '2026-11-20T00:00:01Z' };
    await platform.call('PATCH', `/runs/${id}`, { json: end });
    expect((await platform.call('GET', `/runs/${id}`)).body).toMatchObject({ total_cost: '0.0035' });
  });

  it('has the newest price that was valid when it started, and keeps it', async () => {
    const price = await create({ ...ours, provider: 'house' });
    await create({ ...ours, prompt_cost: '1', start_time: '2026-11-21T00:00:00Z' });
    const first = await costs(used('ours-1', {}));
    expect(first).toMatchObject({ prompt_cost: '0.0011', completion_cost: '0.0002', total_cost: '0.0013' });
    const replaced = { ...ours, provider: 'house', completion_cost: '0' };
    const answer = await platform.call('PUT', `/model-prices/${price.id}`, { json: replaced });
    expect(answer.body).toMatchObject({ id: price.id, completion_cost: '0' });
    expect(await costs(used('ours-1', {}))).toMatchObject({ total_cost: '0.0011' });
    const { id } = first as { id: string };
    expect((await platform.call('GET', `/runs/${id}`)).body).toMatchObject({ total_cost: '0.0013' });
  });
});

describe('the price table', () => {
  it('has default prices, which cannot be changed', async () => {
    const { body } = await platform.call('GET', '/model-prices');
    const shipped = (body as ModelPrice[]).find((price) => price.name === 'gpt-4o');
    expect(shipped).toMatchObject({ is_default: true, prompt_cost: '0.0000025' });
    const path = `/model-prices/${shipped?.id}`;
    expect((await platform.call('DELETE', path)).status).toBe(404);
    expect((await platform.call('PUT', path, { json: ours })).status).toBe(404);
  });

  it('deletes prices', async () => {
    const price = await create({ ...ours, match_pattern: '^deleted-' });
    expect(await costs(used('deleted-1', {}))).toMatchObject({ total_cost: '0.0013' });
    expect((await platform.call('DELETE', `/model-prices/${price.id}`)).status).toBe(204);
    expect(await costs(used('deleted-1', {}))).toMatchObject({ total_cost: null });
  });

  it.each([
    ['an invalid pattern', { match_pattern: '(' }, 'not a valid regular expression'],
    ['a pattern that refers back', { match_pattern: '(a*)\\1' }, 'must not have back references'],
    ['an invalid price', { prompt_cost: 'much' }, 'must be a decimal'],
    ['a negative price', { prompt_cost: -1 }, 'prompt_cost'],
  ])('rejects %s', async (_, wrong, message) => {
    const { status, body } = await platform.call('POST', '/model-prices', { json: { ...ours, ...wrong } });
    expect(status).toBe(422);
    expect(JSON.stringify(body)).toContain(message);
  });
});

// The resources that price lookups use.

const modelRun = (ls_model_name: string): object => ({
  id: randomUUID(),
  name: 'model',
  run_type: 'llm',
  start_time: '2026-11-20T00:00:00Z',
  outputs: { usage_metadata: { input_tokens: 1_000, output_tokens: 100, total_tokens: 1_100 } },
  extra: { metadata: { ls_model_name, ls_provider: 'openai' } },
});

describe('price lookups', () => {
  it('leave connections for other requests, however many batches need prices', async () => {
    const { server } = platform;
    let release!: () => void;
    const released = new Promise<void>((resolve) => (release = resolve));
    let isLocked = false;
    const lock = server.database.transact(async (tx) => {
      await tx.query({ text: 'lock table model_prices in access exclusive mode' }, []);
      isLocked = true;
      await released;
    });
    await using _ = { [Symbol.asyncDispose]: () => (release(), lock) };
    await eventually(() => expect(isLocked).toBe(true));
    const sending = Array.from({ length: 40 }, (_, at) =>
      platform.call('POST', '/runs', { json: modelRun(`model-${at}`) }),
    );
    await eventually(async () => {
      const waiting = await server.database.query(
        {
          name: 'waiting',
          text: `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        },
        [],
      );
      expect(waiting.length).toBeGreaterThan(0);
    });
    for (let count = 0; count < 5; count++) {
      expect((await server.call('POST', '/threads', {})).status).toBe(200);
    }
    release();
    for (const { status } of await Promise.all(sending)) expect(status).toBe(202);
  });

  it('for many models are combined in few queries', async () => {
    const storage = modelPriceStorage(platform.server.database);
    let count = 0;
    const counting: typeof storage = {
      ...storage,
      ofModels: (...args) => {
        count += 1;
        return storage.ofModels(...args);
      },
    };
    const prices = new PriceService(counting);
    const runs = Array.from({ length: 300 }, (_, at): TraceWrite => ({
      id: randomUUID(),
      rank: 0,
      patched: 0,
      writes: [],
      start_time: '2026-11-20T00:00:00.000000Z',
      metadata: '{"ls_provider":"openai"}',
      fields: {
        model: at % 2 === 0 ? `gpt-4o-${2_000 + at}-08-06` : `unknown-${at}`,
        total_tokens: '10',
        run_type: 'llm',
      },
    }));
    await prices.price(randomUUID(), runs);
    expect(count).toBeLessThanOrEqual(10);
    const priced = runs.map(({ fields }) => typeof fields.total_cost === 'string');
    expect(priced).toEqual(runs.map((_, at) => String(runs[at]?.fields.model).startsWith('gpt')));
  });
});

// Prices that change while they are looked up.

const newRun = () =>
  traceWrite(null, {
    model: 'ours-1',
    run_type: 'llm',
    prompt_tokens: '1',
    completion_tokens: '0',
    total_tokens: '1',
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
