// Browsers send this server's cookie with requests of any page. A GET with a cookie must therefore change nothing.
import { randomUUID } from 'node:crypto';
import { deploymentRoutes, type RouteShape } from '@svc/contract';
import { describe, expect, it } from 'vitest';
import { authProjects } from '../access/auth-projects.ts';
import { eventually } from '../eventually.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { sessionAuth } from './session-auth.ts';
import { openStream, type WireRequest } from './wire.ts';
import { fixture } from '../fixture.ts';

type Header = readonly [string, string];

const cookie: Header = ['cookie', 'session=alice'];
const foreign: [string, Header[]][] = [
  ['of another site', [['sec-fetch-site', 'cross-site']]],
  ['of another origin of the site', [['sec-fetch-site', 'same-site']]],
  [
    'of another site, from a script',
    [
      ['sec-fetch-site', 'cross-site'],
      ['origin', 'https://evil.test'],
    ],
  ],
  ['of a browser that sends an origin only', [['origin', 'https://evil.test']]],
];

const projects = fixture(() => authProjects());
const withCookies = fixture(() =>
  projects.serve(
    sessionAuth,
    // Lease renewals change rows.
    { settings: { lease: '1h' } },
  ),
);
const anonymous = fixture(() => startTestServer());

/** As the user's own client sends it. */
const own = { cookie: 'session=alice' };

const startRun = async (server: TestServer): Promise<{ thread_id: string; run_id: string }> => {
  const { thread_id } = (await server.call('POST', '/threads', {}, own)).body as { thread_id: string };
  const input = { action: 'wait', do: 'hang' };
  const body = { assistant_id: 'probe', input };
  const { run_id } = (await server.call('POST', `/threads/${thread_id}/runs`, body, own)).body as {
    run_id: string;
  };
  await eventually(async () => expect(await statusOf(server, { thread_id, run_id })).toBe('running'));
  return { thread_id, run_id };
};

const statusOf = async (server: TestServer, run: { thread_id: string; run_id: string }): Promise<unknown> =>
  (
    (await server.call('GET', `/threads/${run.thread_id}/runs/${run.run_id}`, undefined, own)).body as {
      status: string;
    }
  ).status;

const cancel = async (server: TestServer, run: { thread_id: string; run_id: string }): Promise<void> => {
  await server.call('POST', `/threads/${run.thread_id}/runs/${run.run_id}/cancel?wait=true`, undefined, own);
};

/** Returns the status of the response, and does not wait for the rest. */
const visit = async (server: TestServer, request: WireRequest): Promise<number> => {
  const { status, socket } = await openStream(server, request);
  socket.destroy();
  return status;
};

const joins = ['stream', 'join'].map((what) => [what] as const);

describe('a page', () => {
  it.each(foreign.flatMap(([page, headers]) => joins.map(([what]) => [page, what, headers] as const)))(
    '%s cannot cancel a run by disconnecting: GET …/%s',
    async (_, what, headers) => {
      for (const server of [withCookies, anonymous]) {
        const run = await startRun(server);
        const path = `/threads/${run.thread_id}/runs/${run.run_id}/${what}?cancel_on_disconnect=true`;
        const sent = server === anonymous ? headers : [cookie, ...headers];
        expect(await visit(server, { path, headers: sent })).toBe(403);
        expect(await statusOf(server, run)).toBe('running');
        await cancel(server, run);
      }
    },
  );

  it.each<[string, Header[]]>([
    ['of this server', [cookie, ['sec-fetch-site', 'same-origin']]],
    ['of this server, over plain http', [cookie, ['referer', 'own']]],
    ['that a user typed', [cookie, ['sec-fetch-site', 'none']]],
    ['that is not a page, with a header that pages cannot send', [cookie, ['x-requested-with', 'script']]],
    ['that is not a page, with a token', [['authorization', 'Bearer alice']]],
  ])('%s cancels a run by disconnecting', async (_, headers) => {
    const run = await startRun(withCookies);
    const path = `/threads/${run.thread_id}/runs/${run.run_id}/stream?cancel_on_disconnect=true`;
    const sent = headers.map(([name, value]): Header => [
      name,
      value === 'own' ? `${withCookies.url}/x` : value,
    ]);
    const { status, socket } = await openStream(withCookies, { path, headers: sent });
    expect(status).toBe(200);
    socket.destroy();
    await eventually(async () => expect(await statusOf(withCookies, run)).toBe('interrupted'));
  });

  it('with cookies or basic authentication needs an origin header to cancel by disconnecting', async () => {
    const run = await startRun(withCookies);
    const path = `/threads/${run.thread_id}/runs/${run.run_id}/stream?cancel_on_disconnect=true`;
    const basic: Header = ['authorization', 'Basic YWxpY2U6eA=='];
    for (const headers of [[cookie], [basic], [basic, ['sec-fetch-site', 'cross-site']]] as Header[][]) {
      expect(await visit(withCookies, { path, headers })).toBe(403);
    }
    expect(await statusOf(withCookies, run)).toBe('running');
    await cancel(withCookies, run);
  });
});

describe('every GET', () => {
  const tables = [
    'assistants',
    'assistant_versions',
    'threads',
    'runs',
    'run_cancels',
    'run_events',
    'crons',
    'store_items',
    'checkpoints',
    'checkpoint_heads',
    'webhook_deliveries',
  ];
  const contents = async (server: TestServer): Promise<Map<string, string[]>> => {
    const found = new Map<string, string[]>();
    for (const table of tables) {
      const statement = { text: `select t::text as row from ${table} t order by 1` };
      found.set(
        table,
        (await server.database.query<{ row: string }>(statement, [])).map(({ row }) => row),
      );
    }
    return found;
  };

  it.each(foreign)('of a page %s changes nothing, with any query parameters', async (_, headers) => {
    const server = withCookies;
    const make = async (path: string, body: unknown, method = 'POST') =>
      (await server.call(method, path, body, own)).body as Record<string, string>;
    const { assistant_id = '' } = await make('/assistants', { graph_id: 'probe' });
    const { cron_id = '' } = await make('/runs/crons', { assistant_id, schedule: '0 0 1 1 *' });
    await make('/store/items', { namespace: ['a'], key: 'k', value: {}, ttl: 60 }, 'PUT');
    const run = await startRun(server);
    const values: Record<string, string> = { ...run, assistant_id, cron_id, key: 'k', namespace: 'a' };
    await eventually(async () => {
      const { body } = await server.call('GET', `/threads/${run.thread_id}/state`, undefined, own);
      expect(body).toMatchObject({ next: ['node'] });
    });
    const before = await contents(server);
    const routes = Object.values(deploymentRoutes) as RouteShape[];
    for (const route of routes.filter(({ method }) => method === 'get')) {
      const path = route.path.replaceAll(/:(\w+)/g, (_match, name: string) => values[name] ?? randomUUID());
      const query = Object.keys(route.query?.shape ?? {}).map(
        (name) => [name, values[name] ?? (/limit|offset/.test(name) ? '1' : 'true')] as const,
      );
      for (const options of [query, query.filter(([name]) => name in values)]) {
        const search = new URLSearchParams(Object.fromEntries(options)).toString();
        await visit(server, { path: `${path}?${search}`, headers: [cookie, ...headers] });
      }
    }
    expect(await statusOf(server, run)).toBe('running');
    expect(await contents(server)).toEqual(before);
    await cancel(server, run);
  });
});
