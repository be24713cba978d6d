// Traces of the server's own runs whose executor was lost: how they end, and what a workspace could learn from an imitation.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { NewApiKey, Workspace } from '@svc/contract';
import { tracePartitionStorage } from '../../src/storage/tracing/trace-partitions.ts';
import { eventually } from '../eventually.ts';
import { startPlatform } from './platform-server.ts';
import { fixture } from '../fixture.ts';

interface Traced {
  id: string;
  name: string;
  status: string;
  error: string | null;
}

const secret = 'the password is hunter2';

const platform = fixture(() =>
  startPlatform({ tracing: 'on', cancelGraceMs: 300 }, { executors: 'started' }),
);

const query = (text: string, values: unknown[] = []): Promise<unknown[]> =>
  platform.server.database.query({ text }, values);

const inOwn = { headers: {} as Record<string, string> };
beforeAll(() => {
  inOwn.headers = { 'x-tenant-id': platform.workspace_id };
});

const traceOf = async (trace: string, options: { key?: string; headers?: Record<string, string> }) => {
  const { body } = await platform.call('POST', '/runs/query', { ...options, json: { trace } });
  return (body as { runs: Traced[] }).runs;
};

/** A run of the deployment API that blocks its executor once it is cancelled. Its trace is stored. */
const tracedRun = async (): Promise<{ thread_id: string; run_id: string }> => {
  const { server } = platform;
  const { thread_id } = (await server.call('POST', '/threads', {})).body as { thread_id: string };
  const created = await server.call('POST', `/threads/${thread_id}/runs`, {
    assistant_id: 'probe',
    input: { do: 'blockOnAbort', ms: 60_000 },
  });
  const { run_id } = created.body as { run_id: string };
  await eventually(async () => expect(await traceOf(run_id, inOwn)).toHaveLength(2));
  return { thread_id, run_id };
};

/** Two runs that are killed with their executor, so that their traces stay pending. */
const killedRuns = async (): Promise<string[]> => {
  const { server } = platform;
  // The executor must have sent both traces before the first cancel blocks it.
  const runs = await Promise.all([tracedRun(), tracedRun()]);
  await Promise.all(
    runs.map(async ({ thread_id, run_id }) => {
      await server.call('POST', `/threads/${thread_id}/runs/${run_id}/cancel`);
      await server.call('GET', `/threads/${thread_id}/runs/${run_id}/join`);
    }),
  );
  return runs.map(({ run_id }) => run_id);
};

const failedRun = async (): Promise<string> => {
  const { server } = platform;
  const { thread_id } = (await server.call('POST', '/threads', {})).body as { thread_id: string };
  const created = await server.call('POST', `/threads/${thread_id}/runs`, {
    assistant_id: 'probe',
    input: { do: 'throw' },
  });
  const { run_id } = created.body as { run_id: string };
  await server.call('GET', `/threads/${thread_id}/runs/${run_id}/join`);
  await query('update runs set error = $2 where run_id = $1', [
    run_id,
    JSON.stringify({ error: 'Error', message: secret }),
  ]);
  return run_id;
};

describe('a trace run that an ingest key sends', () => {
  it.each(['another workspace', 'the workspace of the own traces'])(
    'and that imitates a run of the deployment is not ended, and does not get its error: %s',
    async (where) => {
      const run_id = await failedRun();
      let headers = inOwn.headers;
      if (where === 'another workspace') {
        const made = await platform.call('POST', '/workspaces', {
          ...inOwn,
          json: { display_name: 'theirs' },
        });
        headers = { 'x-tenant-id': (made.body as Workspace).id };
      }
      const { key } = (await platform.call('POST', '/api-key', { headers, json: {} })).body as NewApiKey;
      await eventually(async () => {
        for (const { status } of await traceOf(run_id, inOwn)) expect(status).toBe('error');
      });
      // The server's trace exists already, so in its workspace the imitation becomes a step of it.
      const id = where === 'another workspace' ? run_id : randomUUID();
      const start_time = new Date().toISOString();
      const order = (of: string): string =>
        `${start_time.replaceAll(/[-:.]/g, '').replace('Z', '000Z')}${of}`;
      const sent = {
        id,
        trace_id: run_id,
        dotted_order: id === run_id ? order(id) : `${order(run_id)}.${order(id)}`,
        name: 'imitation',
        run_type: 'chain',
        start_time,
        inputs: {},
        extra: { metadata: { graph_id: 'probe', run_id } },
      };
      expect(await platform.call('POST', '/runs', { key, json: sent })).toMatchObject({ status: 202 });
      const traces = tracePartitionStorage(platform.server.database);
      expect(await traces.endLost(0, 100)).toBe(0);
      const shown = (await platform.call('GET', `/runs/${id}`, { key })).body as Traced;
      expect(shown).toMatchObject({ name: 'imitation', status: 'pending', error: null });
    },
  );
});

describe('a lost trace', () => {
  it.each([
    ['NUL', '{"error":"Error","message":"before\\u0000after"}', 'before\0after'],
    ['half of a surrogate pair', '{"error":"Error","message":"a\\ud800\\\\u0000b"}', 'a\ud800\\u0000b'],
    ['no JSON', 'not json', 'The process that executed it was lost or stopped before it ended'],
    ['too deep', '['.repeat(200_000), 'The process that executed it was lost or stopped before it ended'],
  ])('ends with the error of its run, which contains %s, and so do the others', async (_, error, shown) => {
    const [odd = '', plain = ''] = await killedRuns();
    await query('update runs set error = $2 where run_id = $1', [odd, error]);
    await query('update runs set error = $2 where run_id = $1', [plain, '{"message":"plain"}']);
    const traces = tracePartitionStorage(platform.server.database);
    expect(await traces.endLost(60_000, 100)).toBe(0);
    expect(await traces.endLost(0, 100)).toBe(4);
    const errorOf = async (id: string) => (await traceOf(id, inOwn)).find((run) => run.id === id)?.error;
    expect([await errorOf(odd), await errorOf(plain)]).toEqual([shown, 'plain']);
    expect(await traces.endLost(0, 100)).toBe(0);
  });
});
