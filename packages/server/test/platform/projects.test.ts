// Projects, the sums of their runs, and their deletion.
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../src/storage/postgres/database.ts';
import type { Statement } from '../../src/storage/postgres/statement.ts';
import {
  type ProjectRow,
  projectStorage,
  type ProjectStorage,
  statements,
} from '../../src/storage/tracing/projects.ts';
import { ProjectService } from '../../src/tracing/projects/project-service.ts';
import { testDatabase } from '../database.ts';
import { sql } from '../exports/export-tables.ts';
import { fixture } from '../fixture.ts';
import { untilOneWaits } from '../lock-waiters.ts';
import { startPlatform } from './platform-server.ts';

const platform = fixture(() => startPlatform());

type Fields = Record<string, unknown>;

const ok = async (method: string, path: string, json?: unknown): Promise<Fields> => {
  const { status, body } = await platform.call(method, path, { json });
  expect(status, JSON.stringify(body)).toBeLessThan(300);
  return body as Fields;
};

const idOf = async (name: string): Promise<string> =>
  ((await ok('GET', `/sessions?name=${name}`)) as unknown as { id: string }[])[0]?.id ?? '';

interface Below {
  parent?: Fields;
  usage?: object;
  more?: Fields;
}

/** Sends a run that has ended, `n` ms after the first. */
const sent = async (name: string, n: number, { parent, usage, more }: Below = {}): Promise<Fields> => {
  const id = randomUUID();
  const start = new Date(Date.now() + n).toISOString().replaceAll(/[-:.]/g, '').replace('Z', '000Z');
  const own = `${start}${id}`;
  const run = {
    id,
    name: `run ${n}`,
    run_type: usage ? 'llm' : 'chain',
    session_name: name,
    trace_id: parent?.['trace_id'] ?? id,
    parent_run_id: parent?.['id'] ?? null,
    dotted_order: parent ? `${String(parent['dotted_order'])}.${own}` : own,
    start_time: new Date(Date.now() + n).toISOString(),
    end_time: new Date(Date.now() + n + 5).toISOString(),
    ...(usage ? { outputs: { usage_metadata: usage } } : {}),
    ...more,
  };
  await ok('POST', '/runs', run);
  return run;
};

const usage = (input_tokens: number, output_tokens: number) => ({
  input_tokens,
  output_tokens,
  total_tokens: input_tokens + output_tokens,
  input_cost: 0.1,
  output_cost: 0.2,
  total_cost: 0.3,
});

describe('a root', () => {
  it('has the usage of its whole trace, each token once', async () => {
    const root = await sent('sums', 0);
    const node = await sent('sums', 1, { parent: root });
    const model = await sent('sums', 2, { parent: node, usage: usage(10, 5) });
    await sent('sums', 3, { parent: model, usage: usage(10, 5) });
    await sent('sums', 4, { parent: node, usage: usage(1, 1) });
    const total = { prompt_tokens: 11, completion_tokens: 6, total_tokens: 17, total_cost: '0.6' };
    expect(await ok('GET', `/runs/${String(root['id'])}`)).toMatchObject(total);
    expect(await ok('GET', `/runs/${String(node['id'])}`)).toMatchObject({ total_tokens: null });
    const session = [await idOf('sums')];
    const list = await ok('POST', '/runs/query', { session, is_root: true });
    expect(list['runs']).toMatchObject([total]);
    const select = ['total_tokens'];
    const selected = await ok('POST', '/runs/query', { session, is_root: true, select });
    expect(selected['runs']).toMatchObject([{ id: root['id'], total_tokens: 17 }]);
    expect(JSON.stringify(selected)).not.toContain('total_cost');
    expect(await ok('GET', `/traces/${String(root['id'])}`)).toMatchObject({ runs: [total] });
    expect(await ok('POST', '/runs/stats', { session })).toMatchObject({
      total_tokens: 17,
      total_cost: '0.6',
    });
  });
});

describe('feedback', () => {
  it('is summed by key in lists and with the run', async () => {
    const run = await sent('judged', 0);
    for (const score of [1, 0]) await ok('POST', '/feedback', { run_id: run['id'], key: 'kind', score });
    await ok('POST', '/feedback', { run_id: run['id'], key: 'note', comment: 'well' });
    const feedback_stats = { kind: { n: 2, avg: 0.5 }, note: { n: 1, avg: null } };
    expect(await ok('GET', `/runs/${String(run['id'])}`)).toMatchObject({ feedback_stats });
    const list = await ok('POST', '/runs/query', {
      session: [await idOf('judged')],
      select: ['feedback_stats'],
    });
    expect(list['runs']).toMatchObject([{ id: run['id'], feedback_stats }]);
  });
});

describe('a thread', () => {
  it('with a slash in its id is read by a query parameter', async () => {
    const thread_id = 'a/b?c#d';
    const run = await sent('slashes', 0, { more: { extra: { metadata: { thread_id } } } });
    const where = new URLSearchParams({ thread_id, session_id: await idOf('slashes') });
    expect((await ok('GET', `/runs/threads?${where.toString()}`))['runs']).toMatchObject([{ id: run['id'] }]);
    expect((await platform.call('GET', '/runs/threads')).status).toBe(422);
  });
});

describe('the deletion of a project', () => {
  it('deletes its runs, their feedback and attachments, and nothing else; its name can be used again', async () => {
    const [deleted, kept] = [await sent('old', 0), await sent('other', 0)];
    for (const run of [deleted, kept]) await ok('POST', '/feedback', { run_id: run['id'], key: 'k' });
    const id = await idOf('old');
    expect((await platform.call('DELETE', `/sessions/${id}`)).status).toBe(204);
    expect((await platform.call('DELETE', `/sessions/${id}`)).status).toBe(404);
    expect((await platform.call('GET', `/sessions/${id}`)).status).toBe(404);
    expect((await platform.call('GET', `/runs/${String(deleted['id'])}`)).status).toBe(404);
    expect(await ok('GET', `/feedback?run=${String(deleted['id'])}`)).toEqual([]);
    expect(await ok('GET', `/feedback?run=${String(kept['id'])}`)).toHaveLength(1);
    await ok('GET', `/runs/${String(kept['id'])}`);
    const again = await sent('old', 0);
    expect(await idOf('old')).not.toBe(id);
    await ok('GET', `/runs/${String(again['id'])}`);
  });

  it('reserves its id while runs of it may still exist, which would otherwise join another project', async () => {
    const id = randomUUID();
    await ok('POST', '/sessions', { id, name: 'first' });
    await ok('DELETE', `/sessions/${id}`);
    const { status, body } = await platform.call('POST', '/sessions', { json: { id, name: 'second' } });
    expect(status).toBe(409);
    expect(body).toMatchObject({ message: expect.stringMatching(/this id/) });
    expect(await ok('GET', '/sessions?name=second')).toEqual([]);
  });

  it('needs a key that may write', async () => {
    const run = await sent('safe', 0);
    const { key } = (await ok('POST', '/api-key', { role: 'viewer' })) as { key: string };
    const id = await idOf('safe');
    expect((await platform.call('DELETE', `/sessions/${id}`, { key })).status).toBe(403);
    await ok('GET', `/runs/${String(run['id'])}`);
  });
});

describe('numbers', () => {
  it('keep their digits, in any encoding', async () => {
    const [posted, batched] = [randomUUID(), randomUUID()];
    const inputs = '{"big":9007199254740993,"precise":0.10000000000000000001,"e":1e400}';
    const run = (id: string): string =>
      `{"id":"${id}","name":"n","session_name":"digits","inputs": ${inputs} }`;
    const headers = { 'content-type': 'application/json' };
    const batch = `{ "post" : [${run(batched)}] }`;
    expect((await platform.call('POST', '/runs', { body: run(posted), headers })).status).toBe(202);
    expect((await platform.call('POST', '/runs/batch', { body: batch, headers })).status).toBe(202);
    for (const id of [posted, batched]) {
      const response = await fetch(`${platform.apiUrl}/runs/${id}`, {
        headers: { 'x-api-key': platform.key },
      });
      expect(await response.text()).toContain(`"inputs":${inputs}`);
    }
  });
});

describe('ingest metrics', () => {
  it('count stored runs, rejected runs, bytes and batches', async () => {
    const read = async (): Promise<Record<string, number>> => {
      const text = await (await fetch(`${platform.server.url}/metrics`)).text();
      const lines = text.split('\n').filter((line) => line.startsWith('svc_ingest_'));
      return Object.fromEntries(
        lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
      );
    };
    const before = await read();
    const post = [{ id: randomUUID(), name: 'good' }, { id: 'bad' }, { id: randomUUID(), name: 'good' }];
    const json = { post };
    expect((await platform.call('POST', '/runs/batch', { json })).status).toBe(202);
    const after = await read();
    const grown = (name: string): number => (after[name] ?? 0) - (before[name] ?? 0);
    expect(grown('svc_ingest_runs_total{outcome="accepted"}')).toBe(2);
    expect(grown('svc_ingest_runs_total{outcome="rejected"}')).toBe(1);
    expect(grown('svc_ingest_bytes_total')).toBe(JSON.stringify(json).length);
    expect(grown('svc_ingest_batch_seconds_count')).toBe(1);
    expect(after['svc_ingest_refused_total']).toBe(0);
  });
});

// Projects that are deleted while others look them up or create them.

const db = fixture(() => testDatabase());
const storage = fixture(() => projectStorage(db));

let tenant_id: string;

beforeEach(async () => {
  tenant_id = randomUUID();
  await sql(db, `insert into workspaces (id, display_name) values ($1, 'w')`, [tenant_id]);
});

const make = async (id: string) =>
  (await storage.create({ tenant_id, id, name: 'p', description: null, extra: null })) as ProjectRow;

/** A database that executes `action` once, after this statement of a transaction. */
const afterStatement = ({ text }: Statement, action: () => Promise<unknown>): Database => {
  let isDone = false;
  return {
    ...db,
    transact: (work) =>
      db.transact((tx) =>
        work({
          ...tx,
          async query<Row>(statement: Statement<Row>, values: readonly unknown[]) {
            const rows = await tx.query<Row>(statement, values);
            if (statement.text === text && !isDone) {
              isDone = true;
              await action();
            }
            return rows;
          },
        }),
      ),
  };
};

const names = new Set(['p']);
const newProject = { id: undefined, name: 'p', description: undefined, extra: undefined };

describe('the id of a project', () => {
  it('is not cached when the project is deleted during the lookup', async () => {
    let meanwhile = (): Promise<void> => Promise.resolve();
    const ensure: ProjectStorage['ensure'] = async (...args) => {
      const found = await storage.ensure(...args);
      await meanwhile();
      return found;
    };
    const projects = new ProjectService({ ...storage, ensure });
    const { id } = await projects.create(tenant_id, newProject, false);
    meanwhile = () => projects.delete(tenant_id, id);
    await projects.idsOf(tenant_id, names);
    meanwhile = () => Promise.resolve();
    const now = (await projects.idsOf(tenant_id, names)).get('p');
    expect(now).not.toBe(id);
    expect(await storage.find(tenant_id, now ?? '')).toMatchObject({ name: 'p' });
  });

  it('is that of a new project when the old one is deleted before the read', async () => {
    const old = await make(randomUUID());
    const found = await projectStorage(
      afterStatement(statements.ensure, () => storage.delete(tenant_id, old.id)),
    ).ensure(tenant_id, ['p', 'q']);
    expect([...found.keys()].toSorted()).toEqual(['p', 'q']);
    expect(found.get('p')).not.toBe(old.id);
    expect(await storage.find(tenant_id, found.get('p') ?? '')).toMatchObject({ name: 'p' });
  });

  it('is not returned while the project is being deleted', async () => {
    const { id } = await make(randomUUID());
    let lookup: Promise<unknown> | undefined;
    await db.transact(async (tx) => {
      await projectStorage(tx).delete(tenant_id, id);
      lookup = make(id);
      await untilOneWaits(db);
    });
    expect(await lookup).toBeUndefined();
    expect(await storage.find(tenant_id, id)).toBeUndefined();
  });
});

describe('a project', () => {
  it('is created although the one with its name is deleted before the lookup', async () => {
    const old = await make(randomUUID());
    const findNamed: ProjectStorage['findNamed'] = async (...args) => {
      await storage.delete(tenant_id, old.id);
      return storage.findNamed(...args);
    };
    const projects = new ProjectService({ ...storage, findNamed });
    const made = await projects.create(tenant_id, newProject, true);
    expect(made).toMatchObject({ name: 'p' });
    expect(made.id).not.toBe(old.id);
    await expect(projects.create(tenant_id, { ...newProject, id: old.id, name: 'q' }, true)).rejects.toThrow(
      /was deleted recently/,
    );
  });
});
