// Two workspaces on one server: what one sees does not depend on what the other has.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NewApiKey, Workspace } from '@svc/contract';
import { asTenant } from '../../src/storage/tenant.ts';
import { startPlatform, type PlatformServer } from './platform-server.ts';

let platform: PlatformServer;
let ours: string;
let theirs: string;
let ourWorkspace: string;
let theirWorkspace: string;
beforeAll(async () => {
  platform = await startPlatform();
  ourWorkspace = platform.workspace_id;
  const made = await platform.call('POST', '/workspaces', { json: { display_name: 'theirs' } });
  theirWorkspace = (made.body as Workspace).id;
  const newKey = async (tenant: string): Promise<string> => {
    const { body } = await platform.call('POST', '/api-key', {
      json: {},
      headers: { 'x-tenant-id': tenant },
    });
    return (body as NewApiKey).key;
  };
  [ours, theirs] = [await newKey(ourWorkspace), await newKey(theirWorkspace)];
});
afterAll(() => platform[Symbol.asyncDispose]());

interface Run {
  id: string;
  trace_id: string;
  session_id: string;
}

const send = async (key: string, run: object): Promise<Run> => {
  const json = { name: 'secret', session_name: 'shared name', start_time: Date.now(), ...run };
  expect((await platform.call('POST', '/runs', { key, json })).status).toBe(202);
  const { id } = run as { id: string };
  return (await platform.call('GET', `/runs/${id}`, { key })).body as Run;
};

describe('another workspace', () => {
  it('is not seen by id, by trace, by project, nor by anything else', async () => {
    const run = await send(ours, {
      id: randomUUID(),
      inputs: { secret: 1 },
      extra: { metadata: { thread_id: 'shared' } },
    });
    await platform.call('POST', '/feedback', {
      key: ours,
      json: { run_id: run.id, key: 'secret', score: 1 },
    });
    const priceBody = { name: 'secret', match_pattern: '^x', prompt_cost: 1, completion_cost: 1 };
    const made = await platform.call('POST', '/model-prices', { key: ours, json: priceBody });
    const price = (made.body as { id: string }).id;
    const absent = randomUUID();
    const reads = (id: string, session_id: string, price: string): [string, string, unknown?][] => [
      ['GET', `/runs/${id}`],
      ['GET', `/runs/${id}/attachments/x`],
      ['GET', `/sessions/${session_id}`],
      ['POST', '/runs/query', { id: [id] }],
      ['POST', '/runs/query', { trace: id }],
      ['POST', '/runs/query', { session: [session_id] }],
      ['POST', '/runs/query', {}],
      ['POST', '/runs/query', { filter: 'eq(name, "secret")' }],
      ['POST', '/runs/query', { filter: 'eq(feedback_key, "secret")' }],
      ['POST', '/runs/query', { filter: 'and(eq(metadata_key, "thread_id"), eq(metadata_value, "shared"))' }],
      ['POST', '/runs/query', { trace_filter: 'eq(name, "secret")', tree_filter: 'eq(name, "secret")' }],
      ['POST', '/runs/stats', {}],
      ['POST', '/runs/stats', { session: [session_id] }],
      ['POST', '/runs/stats', { id: [id] }],
      ['GET', `/traces/${id}`],
      ['POST', '/../v2/threads/query', { project_id: session_id }],
      ['GET', `/runs/threads/shared?session_id=${session_id}`],
      ['GET', '/feedback'],
      ['GET', `/feedback?run=${id}`],
      ['GET', '/model-prices'],
      ['PUT', `/model-prices/${price}`, priceBody],
      ['DELETE', `/model-prices/${price}`],
      ['GET', '/sessions'],
      ['GET', `/sessions?name=${encodeURIComponent('shared name')}`],
    ];
    const answers = async (id: string, session_id: string, price: string): Promise<string[]> => {
      const all: string[] = [];
      for (const [method, path, json] of reads(id, session_id, price)) {
        const { status, body } = await platform.call(method, path, { key: theirs, json });
        const text = JSON.stringify(body, (name, value: unknown) =>
          name === 'request_id' ? undefined : value,
        );
        all.push(
          `${method} ${status} ${text.replaceAll(id, 'ID').replaceAll(session_id, 'SESSION').replaceAll(price, 'PRICE')}`,
        );
      }
      return all;
    };
    expect(await answers(run.id, run.session_id, price)).toEqual(
      await answers(absent, randomUUID(), randomUUID()),
    );
  });

  it('may have runs with the same ids, which stay apart', async () => {
    const id = randomUUID();
    const first = await send(ours, { id, inputs: { whose: 'ours' } });
    const second = await send(theirs, { id, inputs: { whose: 'theirs' } });
    await platform.call('PATCH', `/runs/${id}`, {
      key: theirs,
      json: { end_time: Date.now(), outputs: { of: 'theirs' } },
    });
    expect(second.session_id).not.toBe(first.session_id);
    const read = async (key: string) => (await platform.call('GET', `/runs/${id}`, { key })).body;
    expect(await read(ours)).toMatchObject({ inputs: { whose: 'ours' }, outputs: null, status: 'pending' });
    expect(await read(theirs)).toMatchObject({ inputs: { whose: 'theirs' }, outputs: { of: 'theirs' } });
  });

  it('has no keys that can be revoked from here', async () => {
    const { body } = await platform.call('POST', '/api-key', {
      json: {},
      headers: { 'x-tenant-id': theirWorkspace },
    });
    const admin = await platform.call('POST', '/api-key', {
      json: { role: 'admin' },
      headers: { 'x-tenant-id': ourWorkspace },
    });
    const { key } = admin.body as NewApiKey;
    expect(await platform.call('DELETE', `/api-key/${(body as NewApiKey).id}`, { key })).toMatchObject({
      status: 404,
    });
  });
});

describe('the second net', () => {
  it('holds where a statement forgets the workspace', async () => {
    const run = await send(ours, { id: randomUUID() });
    await platform.call('POST', '/feedback', { key: ours, json: { run_id: run.id, key: 'k' } });
    const { database } = platform.server;
    const tables = ['projects', 'trace_run_days', 'trace_runs', 'feedback'];
    for (const table of tables) {
      const count = (tenant: string) =>
        asTenant(database, tenant, (tx) =>
          tx.query<{ count: number }>({ name: `count_${table}`, text: `select count(*) from ${table}` }, []),
        );
      expect((await count(ourWorkspace))[0]?.count, table).toBeGreaterThan(0);
      expect((await count(randomUUID()))[0]?.count, table).toBe(0);
    }
    const steal = asTenant(database, theirWorkspace, (tx) =>
      tx.query({ name: 'steal', text: 'update trace_runs set name = $1 where id = $2 returning id' }, [
        'x',
        run.id,
      ]),
    );
    expect(await steal).toEqual([]);
    const plant = asTenant(database, theirWorkspace, (tx) =>
      tx.query({ name: 'plant', text: 'insert into trace_run_days values ($1, $2, current_date)' }, [
        ourWorkspace,
        randomUUID(),
      ]),
    );
    await expect(plant).rejects.toThrow(/row-level security/);
    const around = asTenant(database, theirWorkspace, (tx) =>
      tx.query({ name: 'around', text: 'select 1 from trace_runs_far' }, []),
    );
    await expect(around).rejects.toThrow(/permission denied/);
  });
});
