// Each filter of a search holds where a project has auth handlers: what handlers see and may change is only a part of the filters.
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { deploymentRoutes } from '@svc/contract';
import { beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { fixture } from '../fixture.ts';
import { openChanges } from '../runs/run-change-client.ts';
import { startTestServer } from '../server.ts';

const server = fixture(() =>
  startTestServer({
    project: fileURLToPath(new URL('./project/svc.json', import.meta.url)),
  }),
);

const authorization = { authorization: 'Bearer ann' };

const post = async (path: string, body: object): Promise<unknown> => {
  const answer = await server.call('POST', path, body, authorization);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
};

beforeAll(async () => {
  const { thread_id } = (await post('/threads', {})) as { thread_id: string };
  await post(`/threads/${thread_id}/runs/wait`, { assistant_id: 'probe', input: { action: 'user' } });
  await post('/assistants', { graph_id: 'probe', name: 'mine' });
  await post(`/threads/${thread_id}/runs/crons`, { assistant_id: 'probe', schedule: '0 0 1 1 *', input: {} });
});

const past = '2001-01-01T00:00:00Z';
const future = '2999-01-01T00:00:00Z';

/** Fields of a search that are no filters. */
const page = new Set(['sort_order', 'limit', 'cursor', 'select']);

/** By the route whose body has the filters: a value of each that no object of the caller has. */
const excluding = {
  countThreads: {
    ids: [randomUUID()],
    metadata: { mark: 'of nothing' },
    values: { mark: 'of nothing' },
    status: 'busy',
    has_interrupts: true,
    created_after: future,
    created_before: past,
    updated_after: future,
    updated_before: past,
    state_updated_after: future,
    state_updated_before: past,
  },
  countAssistants: { metadata: { mark: 'of nothing' }, graph_id: 'none', name: 'nobody' },
  countCrons: {
    assistant_id: randomUUID(),
    thread_id: randomUUID(),
    enabled: false,
    metadata: { mark: 'of nothing' },
  },
  searchRuns: {
    run_id: randomUUID(),
    status: ['timeout'],
    assistant_id: randomUUID(),
    graph_id: 'none',
    thread_id: randomUUID(),
    metadata: { mark: 'of nothing' },
    created_after: future,
    created_before: past,
    ended_after: future,
    ended_before: past,
  },
} as const;

describe.each(Object.entries(excluding))('%s with auth handlers', (name, filters) => {
  const route = deploymentRoutes[name as keyof typeof excluding];
  const search = route.path.replace(/count$/, 'search');
  const isCount = search !== route.path;

  it('has a case for each filter of the route', () => {
    const keys = Object.keys(route.body.shape).filter((key) => !page.has(key));
    expect(Object.keys(filters).toSorted()).toEqual(keys.toSorted());
  });

  it('finds the objects of the caller without a filter', async () => {
    expect(await post(search, {})).not.toEqual([]);
    if (isCount) expect(await post(route.path, {})).not.toBe(0);
  });

  it.each(Object.entries(filters))('finds nothing by another %s', async (key, value) => {
    expect(await post(search, { [key]: value })).toEqual([]);
    if (isCount) expect(await post(route.path, { [key]: value })).toBe(0);
  });
});

// Notifications of changed runs of two users.

const as = (user: string) => ({ authorization: `Bearer ${user}` });
const probe = { assistant_id: 'probe', input: { action: 'user' } };

const start = async (user: string): Promise<string> => {
  const thread_id = randomUUID();
  const run = { ...probe, if_not_exists: 'create' };
  expect((await server.call('POST', `/threads/${thread_id}/runs`, run, as(user))).status).toBe(200);
  return thread_id;
};

it('a user is not notified of runs of another user', async () => {
  await using hers = await openChanges(server.url, as('alice'));
  await using his = await openChanges(server.url, as('bob'));
  await hers.named(await start('alice'));
  expect((await server.call('POST', '/runs', probe, as('alice'))).status).toBe(200);
  await hers.named(await start('alice'));
  const own = await start('bob');
  await his.named(own);
  await eventually(() => expect(new Set(his.notifications.slice(1).flat())).toEqual(new Set([own])));
});
