// Every route of the platform with every kind of invalid input: each gets a status and a message, never a 5xx, and the server keeps
// serving. Invalid runs and spans are in bad-ingest.test.ts and bad-otlp.test.ts. A route without a sample fails the test.
import { randomUUID } from 'node:crypto';
import { platformRoutes, type RouteShape } from '@svc/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPlatform, type PlatformServer } from './platform-server.ts';
import { scaled } from '../speed.ts';

let platform: PlatformServer;
let session_id: string;
let destination_id: string;
const run_id = randomUUID();

beforeAll(async () => {
  platform = await startPlatform({ bodyLimit: '200kb', ingestLimit: '200kb' });
  const made = await platform.call('POST', '/sessions', { json: { name: 'project' } });
  session_id = (made.body as { id: string }).id;
  const place = await platform.call('POST', '/bulk-exports/destinations', { json: folder() });
  destination_id = (place.body as { id: string }).id;
  const json = { id: run_id, name: 'run', session_id, start_time: Date.now() };
  expect((await platform.call('POST', '/runs', { json })).status).toBe(202);
});
afterAll(() => platform[Symbol.asyncDispose]());

const routes = Object.entries(platformRoutes) as [string, RouteShape][];
const withBody = routes.filter(([, route]) => route.body);
const uploads = routes.filter(([, route]) => route.upload);
const price = { name: 'p', match_pattern: '^p$', prompt_cost: '1', completion_cost: '1' };

const folder = () => ({ destination_type: 'file', display_name: 'd', config: { path: 'out' } });
const span = () => ({
  bulk_export_destination_id: destination_id,
  session_id,
  start_time: '2026-11-01T00:00:00Z',
  end_time: '2026-11-02T00:00:00Z',
});

/** A valid body for every route that takes one. */
const samples = (): Record<string, Record<string, unknown>> => ({
  createWorkspace: { display_name: 'w' },
  createKey: {},
  createProject: { name: randomUUID() },
  getRunStats: {},
  getRunStatsSeries: {},
  queryTraceRuns: {},
  querySelectedRuns: { project_ids: [session_id] },
  queryTraces: { project_id: session_id },
  queryTraceThreads: { project_id: session_id },
  getThreadAggregates: { project_id: session_id, select: ['THREAD_COUNT'] },
  groupRuns: { session_id, group_by: 'conversation' },
  changeProject: { description: 'd' },
  createFeedbackToken: { run_id, feedback_key: 'k' },
  useFeedbackToken: { score: 1 },
  createModelPrice: price,
  replaceModelPrice: price,
  createFeedback: { run_id, key: 'k' },
  changeFeedback: { score: 1 },
  createDestination: folder(),
  changeDestination: { credentials: { access_key_id: 'a', secret_access_key: 'b' } },
  createExport: span(),
  validateExport: span(),
  changeExport: { status: 'Cancelled' },
});
/** Routes whose object does not exist. */
const ofUnknown = [
  'replaceModelPrice',
  'changeFeedback',
  'changeDestination',
  'changeExport',
  'useFeedbackToken',
];

const params = (): Record<string, string> => ({
  id: run_id,
  trace_id: run_id,
  session_id,
  name: 'file',
  thread_id: 'thread',
  price_id: randomUUID(),
  feedback_id: randomUUID(),
  key_id: randomUUID(),
  token: randomUUID(),
  destination_id: randomUUID(),
  export_id: randomUUID(),
  run_id,
});

/** Required query parameters. */
const required: Record<string, () => string> = {
  listTraceThreadRuns: () => `session_id=${session_id}`,
  getSelectedRun: () => `project_id=${session_id}`,
  listTraceRuns: () => `project_id=${session_id}`,
  listThreadTraces: () => `project_id=${session_id}`,
  getThreadStats: () => `session_id=${session_id}&selects=TURNS`,
  resolveProject: () => 'kind=AGENT&id=x&environment=local',
  listFeedbackTokens: () => `run_id=${run_id}`,
  listScheduleRuns: () => `source_bulk_export_id=${randomUUID()}`,
};

const pathOf = (name: string, route: RouteShape, values: Record<string, string> = {}): string => {
  const all = { ...params(), ...values };
  const path = route.path.replaceAll(/:(\w+)/g, (_, field: string) => all[field] ?? 'x');
  return required[name] ? `${path}?${required[name]()}` : path;
};

interface Answer {
  status: number;
  text: string;
}

const send = async (
  route: RouteShape,
  path: string,
  body?: unknown,
  type: string | null = 'application/json',
): Promise<Answer> => {
  const response = await fetch(platform.server.url + path, {
    method: route.method.toUpperCase(),
    headers: {
      'x-api-key': platform.key,
      // One of the two workspaces that exist once the sample workspace has been created.
      'x-tenant-id': platform.workspace_id,
      ...(body === undefined || type === null ? {} : { 'content-type': type }),
    },
    ...(body === undefined ? {} : { body: body as string }),
  });
  return { status: response.status, text: await response.text() };
};

const call = (method: string, path: string, json?: unknown) =>
  platform.call(method, path, { json, headers: { 'x-tenant-id': platform.workspace_id } });

/** A rejection has a problem body in svc's format, and exposes no internals. */
const expectProblem = ({ status, text }: Answer, statuses: number[], what: string): void => {
  expect(statuses, `${what}: ${status} ${text.slice(0, 300)}`).toContain(status);
  const problem = JSON.parse(text) as Record<string, unknown>;
  expect(Object.keys(problem).toSorted(), what).toEqual(['code', 'detail', 'message', 'request_id']);
  expect(text, what).not.toMatch(/node_modules|\bat \/|select .* from|\.ts:\d/);
};

const expectServing = async (): Promise<void> => {
  expect((await platform.server.call('GET', '/ok?check_db=1')).body).toEqual({ ok: true });
};

const deep = `${'['.repeat(600)}${']'.repeat(600)}`;

describe('a body', () => {
  it('has a valid sample for every route that takes one', () => {
    expect(Object.keys(samples()).toSorted()).toEqual(withBody.map(([name]) => name).toSorted());
  });

  it('that is valid is accepted by every route, so that the tests below change one thing only', async () => {
    for (const [name, route] of withBody) {
      const { status, text } = await send(route, pathOf(name, route), JSON.stringify(samples()[name]));
      expect(ofUnknown.includes(name) ? [404] : [200], `${name}: ${text}`).toContain(status);
    }
  });

  it.each<[string, string | Uint8Array, number[]]>([
    ['that is not JSON', '{"a":', [400]],
    ['of invalid UTF-8', Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), [400]],
    ['nested too deep', `{"x":${deep}}`, [422]],
    ['with a key twice', '{"x":1,"x":2}', [422]],
    ['with a key __proto__', '{"__proto__":{"polluted":true}}', [422]],
    ['with NUL in a string', String.raw`{"x":"a\u0000b"}`, [422]],
    ['with a lone surrogate', String.raw`{"x":"\ud800"}`, [422]],
    ['with a number that would change', '{"x":9007199254740993}', [422]],
    ['with a number too large', '{"x":1e400}', [422]],
    ['over the limit', `{"x":"${'x'.repeat(250_000)}"}`, [413]],
    ['that is a string', '"hello"', [422]],
    ['that is a number', '42', [422]],
    ['that is null', 'null', [422]],
    ['that is a list', '[]', [422]],
  ])('%s is rejected by every route', async (_, body, statuses) => {
    for (const [name, route] of withBody)
      expectProblem(await send(route, pathOf(name, route), body), statuses, name);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    await expectServing();
  });

  it('with another or no content type is rejected by every route', async () => {
    for (const [name, route] of [...withBody, ...uploads]) {
      const body = JSON.stringify(samples()[name] ?? {});
      for (const type of ['text/plain', 'application/x-www-form-urlencoded'])
        expectProblem(await send(route, pathOf(name, route), body, type), [400, 415, 422], `${name} ${type}`);
    }
    await expectServing();
  });

  it(
    "with a field of a wrong type is rejected by every route, with the field's name",
    async () => {
      const wrong = [
        {},
        [],
        [{}],
        'x'.repeat(70_000),
        -1,
        1.5,
        true,
        '',
        'nonsense',
        [null],
        { a: { b: [] } },
      ];
      for (const [name, route] of withBody) {
        // Of a union, the sample has the fields of one member.
        const { shape = samples()[name] ?? {} } = route.body as unknown as {
          shape?: Record<string, unknown>;
        };
        const fields = Object.keys(shape);
        expect(fields.length, name).toBeGreaterThan(0);
        for (const field of fields) {
          for (const value of wrong) {
            const sample = { ...samples()[name], [field]: value };
            const answer = await send(route, pathOf(name, route), JSON.stringify(sample));
            const what = `${name} ${field}=${JSON.stringify(value).slice(0, 40)}`;
            expect(answer.status, `${what}: ${answer.text.slice(0, 300)}`).toBeLessThan(500);
            if (answer.status >= 400) expectProblem(answer, [403, 404, 409, 422], what);
            if (answer.status === 422) expect(answer.text, what).toContain(field);
          }
        }
      }
      await expectServing();
    },
    scaled(120_000),
  );
});

describe('an upload', () => {
  it.each<[string, string | Uint8Array]>([
    ['that is empty', ''],
    ['that is not JSON', '{"post":'],
    ['of invalid UTF-8', Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['nested too deep', `{"post":${deep},"patch":${deep},"id":${deep},"resourceSpans":${deep}}`],
    ['that is a string', '"hello"'],
    ['that is null', 'null'],
    ['that is a list', '[[]]'],
    ['whose fields have wrong types', '{"post":1,"patch":{},"id":[],"resourceSpans":"x"}'],
    ['over the limit', `{"x":"${'x'.repeat(250_000)}"}`],
  ])('%s is rejected by every route', async (what, body) => {
    for (const [name, route] of uploads) {
      for (const type of route.upload ?? []) {
        const sent = type.startsWith('multipart/') ? `${type}; boundary=b` : type;
        const answer = await send(route, pathOf(name, route), body, sent);
        // An OTLP request without spans is valid.
        if (what === 'that is empty' && name === 'ingestOtlp' && answer.status === 200) continue;
        expectProblem(answer, [400, 413, 422], `${name} ${type}`);
      }
    }
    await expectServing();
  });
});

describe('an id', () => {
  const bad = ['x', '%00', '..%2f..', 'a'.repeat(3_000), "'", '%F0%9F%92%A9', '00000000', '%ff', '%', '-1'];

  it(
    'that is invalid is rejected by every route',
    async () => {
      for (const [name, route] of routes) {
        for (const field of Object.keys(route.params?.shape ?? {})) {
          for (const id of bad) {
            const body = route.upload ? {} : samples()[name];
            const answer = await send(
              route,
              pathOf(name, route, { [field]: id }),
              body && JSON.stringify(body),
            );
            const what = `${name} ${field}=${id.slice(0, 20)}`;
            expect(answer.status, `${what}: ${answer.text.slice(0, 200)}`).toBeLessThan(500);
            // A thread's id may be any text: an unknown one has no runs.
            if (field === 'thread_id' && answer.status === 200) continue;
            expectProblem(answer, [400, 404, 414, 422], what);
          }
        }
      }
      await expectServing();
    },
    scaled(60_000),
  );

  it('of an unknown object returns 404 on every route that does not create it', async () => {
    for (const [name, route] of routes.filter(([, one]) => one.params && !one.upload)) {
      for (const field of Object.keys(route.params?.shape ?? {})) {
        // These lists are empty.
        if (field === 'thread_id' || name === 'listTraceRuns') continue;
        const id = randomUUID();
        const body = samples()[name];
        const answer = await send(route, pathOf(name, route, { [field]: id }), body && JSON.stringify(body));
        expectProblem(answer, [404], `${name} ${field}`);
      }
    }
  });

  it('an unknown path returns 404, and an unknown method 405', async () => {
    expect((await call('GET', '/nothing')).body).toMatchObject({ code: 'not_found' });
    expect((await call('PUT', '/runs/query')).status).toBe(405);
  });
});

describe('a query', () => {
  const values = [
    '-1',
    '1.5',
    '1e9',
    'abc',
    '',
    '%00',
    "'",
    '99999999999999999999',
    '[',
    '["a"',
    '{}',
    '%ff',
  ];

  it(
    'with a value of a wrong type is rejected by every route',
    async () => {
      for (const [name, route] of routes.filter(([, one]) => one.query)) {
        for (const field of Object.keys(route.query?.shape ?? {})) {
          for (const value of values) {
            const path = pathOf(name, route);
            const url = `${path}${path.includes('?') ? '&' : '?'}${field}=${value}`;
            const body = samples()[name];
            const answer = await send(route, url, body && JSON.stringify(body));
            const what = `${name} ?${field}=${value}`;
            expect(answer.status, `${what}: ${answer.text.slice(0, 200)}`).toBeLessThan(500);
            if (answer.status >= 400) expectProblem(answer, [400, 404, 409, 422], what);
          }
        }
      }
      await expectServing();
    },
    scaled(60_000),
  );

  it.each(['-1', '1.5', '1000000000', '0', ''])('with limit %s is rejected', async (limit) => {
    for (const path of ['/sessions', '/feedback', `/runs/threads/x?session_id=${session_id}`]) {
      const url = `${path}${path.includes('?') ? '&' : '?'}limit=${limit}`;
      expect((await call('GET', url)).status, url).toBe(422);
    }
    expect((await call('POST', '/runs/query', { limit: Number(limit) })).status).toBe(422);
  });

  it.each(['nonsense', 'eyJ9', Buffer.from('2026-11-21T00:00:00Z x').toString('base64url')])(
    'with an invalid cursor is rejected: %s',
    async (cursor) => {
      const answers = [
        await call('POST', '/runs/query', { cursor }),
        await call('POST', '/api/v2/threads/query', { project_id: session_id, cursor }),
        await call('GET', `/runs/threads/x?session_id=${session_id}&cursor=${encodeURIComponent(cursor)}`),
      ];
      expect(answers.map(({ status }) => status)).toEqual([422, 422, 422]);
    },
  );
});

describe('a header', () => {
  it.each<[string, Record<string, string>, number[]]>([
    ['that names no workspace', { 'x-tenant-id': 'nonsense' }, [403, 422]],
    ['that names an unknown workspace', { 'x-tenant-id': randomUUID() }, [403]],
    ['with an unknown key', { 'x-api-key': 'nonsense' }, [401, 403, 429]],
    ['with a key of 5 KB', { 'x-api-key': 'x'.repeat(5_000) }, [401, 403, 429]],
    ['with an empty key', { 'x-api-key': '' }, [401, 403, 429]],
  ])('%s is rejected by every route', async (_, headers, statuses) => {
    for (const [name, route] of routes.filter(([, one]) => one.access !== 'public')) {
      const response = await fetch(platform.server.url + pathOf(name, route), {
        method: route.method.toUpperCase(),
        headers: { 'x-api-key': platform.key, ...headers },
      });
      const answer = { status: response.status, text: await response.text() };
      expectProblem(answer, statuses, name);
    }
  });
});
