// Executors that do not answer: requests to them end with 503, and an executor that a request has blocked is replaced. While one is blocked,
// it offers no slots, and readiness reports it.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSvcJson } from '../../src/config/project/svc-json.ts';
import type { ExecutorEnd } from '../../src/engine/dispatch/executor-process.ts';
import { defaultCallLimits } from '../../src/engine/dispatch/executor-calls.ts';
import { ExecutorPool } from '../../src/engine/dispatch/executor-pool.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { startPlatform } from '../platform/platform-server.ts';
import { testFolder } from '../folders.ts';

let db: TestDatabase;
beforeEach(async () => {
  db = await testDatabase();
});
afterEach(() => db[Symbol.asyncDispose]());

const openPool = (blockedMs: number) => {
  const project = loadSvcJson(fileURLToPath(new URL('./stuck/svc.json', import.meta.url)), {});
  const log = { level: 'silent', format: 'json' } as const;
  const ends: ExecutorEnd[] = [];
  const pool = new ExecutorPool({
    setup: { database: db.options, graphs: [...project.graphs], env: project.env, log },
    executors: 1,
    slots: { least: 2, most: 2 },
    solitaryMax: 1,
    callLimits: { ...defaultCallLimits, introspect: 2_000 },
    blockedMs,
    logger: createLogger(log),
    events: {
      onRun: () => undefined,
      onSlots: () => undefined,
      onModules: () => undefined,
      onExit: (_, end) => void ends.push(end),
    },
  });
  const introspect = (how: string): Promise<unknown> =>
    pool.introspect({ graph_id: 'stuck', what: 'graph', config: { configurable: { how } } });
  return { pool, ends, introspect };
};

describe('a request to an executor', () => {
  it('that is not answered in time is rejected; the executor stays if its event loop is not blocked', async () => {
    const { pool, ends, introspect } = openPool(60_000);
    await using _ = pool;
    await eventually(() => expect(pool.loaded).toBe(1));
    await expect(introspect('wait')).rejects.toMatchObject({ code: 'unavailable' });
    expect(await eventually(() => introspect('return'))).toHaveProperty('nodes');
    expect(ends).toEqual([]);
  });

  it('that blocks its event loop is rejected, and the executor is replaced; until then it has no slots', async () => {
    const { pool, ends, introspect } = openPool(1_000);
    await using _ = pool;
    await eventually(() => expect(pool.loaded).toBe(1));
    let reports = 0;
    pool.onCapacity = () => (reports += 1);
    const answer = introspect('block');
    const rejected = expect(answer).rejects.toMatchObject({ code: 'unavailable' });
    await eventually(() => expect(pool.blocked).toBe(1));
    expect([pool.capacity, pool.freeSlots]).toEqual([0, 0]);
    await eventually(() => expect(reports).toBe(1));
    await rejected;
    await eventually(() => expect(ends).toMatchObject([{ how: 'killed' }]));
    await eventually(() =>
      expect([pool.loaded, pool.blocked, pool.kills, pool.crashes]).toEqual([1, 0, 1, 0]),
    );
    expect(await eventually(() => introspect('return'))).toHaveProperty('nodes');
  });
});

describe('/ready', () => {
  it('is 503 while all executors are blocked by runs, and the worker reports them and offers no slots', async () => {
    const dir = testFolder();
    await using platform = await startPlatform({}, { executors: 'started' });
    const { server } = platform;
    const workers = () =>
      platform.call('GET', '/server/workers', { headers: { 'x-tenant-id': platform.workspace_id } });
    const ready = async () => server.call('GET', '/ready');
    await eventually(async () => expect((await ready()).status).toBe(200));
    const input = { do: 'spinUntil', out: join(dir, 'go') };
    const run = server.call('POST', '/runs/wait', { assistant_id: 'probe', input });
    const message = expect.stringContaining('is blocked by a graph') as string;
    await eventually(async () => expect(await ready()).toMatchObject({ status: 503, body: { message } }));
    await eventually(async () =>
      expect((await server.call('GET', '/metrics')).body).toMatch(/^svc_worker_slots 0$/m),
    );
    await eventually(async () =>
      expect(await workers()).toMatchObject({ body: [{ slots: 0, running: 1, blocked_executors: 1 }] }),
    );
    await writeFile(join(dir, 'go'), '');
    expect((await run).status).toBe(200);
    await eventually(async () =>
      expect(await ready()).toMatchObject({ status: 200, body: { workers: 1, slots: 500 } }),
    );
    await eventually(async () =>
      expect(await workers()).toMatchObject({ body: [{ slots: 500, blocked_executors: 0 }] }),
    );
  });
});
