// The resources that price lookups use.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PriceService } from '../../src/tracing/prices/price-service.ts';
import { modelPriceStorage } from '../../src/storage/tracing/model-prices.ts';
import type { TraceWrite } from '../../src/storage/tracing/traces.ts';
import { eventually } from '../eventually.ts';
import { startPlatform, type PlatformServer } from './platform-server.ts';

let platform: PlatformServer;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform[Symbol.asyncDispose]());

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
      await tx.query({ name: '', text: 'lock table model_prices in access exclusive mode' }, []);
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
