// Objects that would not match the filter of their own handler are not written: users cannot create objects for other users, or lose sight
// of what they create.
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { startTestServer } from '../server.ts';
import { fixture } from '../fixture.ts';

const project = fileURLToPath(new URL('./matrix/svc.json', import.meta.url));

const server = fixture(() => startTestServer({ project }));

const call = (event: string, action: string, method: string, path: string, body?: unknown) =>
  server.call(method, path, body, { authorization: `Bearer ${event}=${action}` });
const make = async (path: string, body: unknown) =>
  (await call('-', '-', 'POST', path, body)).body as Record<string, string>;
const total = async (table: string): Promise<number> => {
  const statement = { name: `total_${table}`, text: `select count(*)::int as count from ${table}` };
  return (await server.database.query<{ count: number }>(statement, []))[0]?.count ?? -1;
};

const run = { assistant_id: 'probe', input: { action: 'user' } };
const cron = { assistant_id: 'probe', schedule: '0 0 1 1 *' };
const creations: [string, string, string, object][] = [
  ['a thread', 'threads:create', '/threads', {}],
  ['an assistant', 'assistants:create', '/assistants', { graph_id: 'probe' }],
  ['a cron', 'crons:create', '/runs/crons', cron],
  ['a cron whose runs would be outside', 'threads:create_run', '/runs/crons', cron],
  ['a stateless run', 'threads:create_run', '/runs', run],
  ['a run that keeps its thread', 'threads:create_run', '/runs', { ...run, on_completion: 'keep' }],
  ['runs of a batch', 'threads:create_run', '/runs/batch', [run]],
  [
    'a run with its thread',
    'threads:create_run',
    `/threads/${randomUUID()}/runs`,
    { ...run, if_not_exists: 'create' },
  ],
];

describe('an object that its own filter excludes', () => {
  it.each(creations)('is not created: %s', async (_, event, path, body) => {
    const tables = ['threads', 'assistants', 'crons', 'runs', 'run_users'];
    const before = await Promise.all(tables.map(total));
    const answer = await call(event, 'filter', 'POST', path, body);
    expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect((answer.body as { message: string }).message).toContain(event);
    expect(await Promise.all(tables.map(total))).toEqual(before);
  });

  it('is not created by a copy', async () => {
    const { thread_id } = await make('/threads', {});
    const before = await total('threads');
    const answer = await call('threads:create', 'filter', 'POST', `/threads/${thread_id}/copy`);
    expect(answer.status).toBe(403);
    expect(await total('threads')).toBe(before);
  });

  const theirs = { metadata: { owner: 'somebody else' } };
  it.each([
    [
      'a thread',
      'threads',
      '/threads',
      {},
      (made: Record<string, string>) => `/threads/${made['thread_id']}`,
    ],
    [
      'an assistant',
      'assistants',
      '/assistants',
      { graph_id: 'probe' },
      (made: Record<string, string>) => `/assistants/${made['assistant_id']}`,
    ],
    [
      'a cron',
      'crons',
      '/runs/crons',
      cron,
      (made: Record<string, string>) => `/runs/crons/${made['cron_id']}`,
    ],
  ] as const)('cannot be created by an update: %s', async (_, resource, path, body, pathOf) => {
    const made = await make(path, body);
    const answer = await call(`${resource}:update`, 'own', 'PATCH', pathOf(made), theirs);
    expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    const left = await call('-', '-', 'GET', pathOf(made));
    expect(left.body).toMatchObject({ metadata: { owner: 'matrix' } });
  });

  it('is not stored as an item, new or in place of an existing one', async () => {
    const item = { namespace: ['a'], key: randomUUID(), value: { owner: 'matrix' } };
    expect((await call('store:put', 'own', 'PUT', '/store/items', item)).status).toBe(204);
    const planted = { ...item, value: { owner: 'somebody else' } };
    expect((await call('store:put', 'own', 'PUT', '/store/items', planted)).status).toBe(403);
    const theirKey = { ...planted, key: randomUUID() };
    expect((await call('-', '-', 'PUT', '/store/items', theirKey)).status).toBe(204);
    const over = await call('store:put', 'own', 'PUT', '/store/items', {
      ...theirKey,
      value: { owner: 'matrix' },
    });
    expect(over.status).toBe(404);
    const { body } = await call('-', '-', 'GET', `/store/items?namespace=a&key=${theirKey.key}`);
    expect(body).toMatchObject({ value: { owner: 'somebody else' } });
  });
});
