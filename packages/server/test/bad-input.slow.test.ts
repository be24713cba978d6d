// Every route of the contract with every kind of invalid input: each gets a status and a message, never a 5xx, and the server keeps
// serving. A route without a sample here fails the test.
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { deploymentRoutes, type RouteShape } from '@svc/contract';
import { beforeAll, describe, expect, it } from 'vitest';
import { startTestServer } from './server.ts';
import { scaled } from './speed.ts';
import { fixture } from './fixture.ts';

const server = fixture(() => startTestServer({ settings: { bodyLimit: '200kb' } }));
let thread_id: string;
let run_id: string;

const createThread = async (): Promise<string> => {
  const thread = await server.call('POST', '/threads', { metadata: { graph_id: 'chat' } });
  return (thread.body as { thread_id: string }).thread_id;
};

beforeAll(async () => {
  thread_id = await createThread();
  const run = await server.call('POST', `/threads/${thread_id}/runs`, {
    assistant_id: 'chat',
    input: { messages: [] },
  });
  run_id = (run.body as { run_id: string }).run_id;
  await server.call('GET', `/threads/${thread_id}/runs/${run_id}/join`);
});

// Errors of JSON-RPC are part of the response, and a WebSocket needs a handshake: test/mcp, test/a2a and test/thread-protocol send their
// bad input.
const routes = (Object.entries(deploymentRoutes) as [string, RouteShape][]).filter(
  ([, { kind }]) => kind !== 'rpc' && kind !== 'socket',
);
const withBody = routes.filter(([, route]) => route.body);
/** A valid request opens a stream that does not end, also for a thread that does not exist yet (test/thread-protocol). */
const isFeed = (name: string): boolean => name === 'streamThreadEvents';
/** Its errors are part of a response with status 200, except those of a malformed envelope, which are 400. */
const isCommand = (name: string): boolean => name === 'sendThreadCommand';

/** A valid body for every route that takes one. */
const samples: Record<string, unknown> = {
  createAssistant: { graph_id: 'chat' },
  searchAssistants: {},
  countAssistants: {},
  updateAssistant: { name: 'x' },
  listAssistantVersions: {},
  setLatestAssistant: { version: 1 },
  createThread: {},
  searchThreads: {},
  countThreads: {},
  patchThread: { metadata: {} },
  pruneThreads: { thread_ids: [randomUUID()] },
  getThreadStateAtCheckpoint: { checkpoint: {} },
  updateThreadState: { values: { messages: [] } },
  patchThreadState: { metadata: {} },
  searchThreadHistory: {},
  sendThreadCommand: { id: 1, method: 'state.get' },
  streamThreadEvents: { channels: ['values'] },
  createRunBatch: [{ assistant_id: 'chat' }],
  streamStatelessRun: { assistant_id: 'chat', input: { messages: [] } },
  waitStatelessRun: { assistant_id: 'chat', input: { messages: [] } },
  createStatelessRun: { assistant_id: 'chat', input: { messages: [] } },
  streamRun: { assistant_id: 'chat', input: { messages: [] } },
  waitRun: { assistant_id: 'chat', input: { messages: [] } },
  createRun: { assistant_id: 'chat', input: { messages: [] } },
  sendRunInput: { input: { messages: [] } },
  createCron: { assistant_id: 'chat', schedule: '0 0 * * *' },
  createThreadCron: { assistant_id: 'chat', schedule: '0 0 * * *' },
  searchCrons: {},
  countCrons: {},
  updateCron: { enabled: false },
  cancelRuns: { status: 'pending' },
  createJob: { kind: 'cancel_runs', filter: {} },
  searchRuns: {},
  getRunFigures: {},
  searchWebhookDeliveries: {},
  putItem: { namespace: ['a'], key: 'k', value: {} },
  deleteItem: { namespace: ['a'], key: 'k' },
  searchItems: {},
  listNamespaces: {},
  getUi: { name: 'component' },
};

const params = (): Record<string, string> => ({
  thread_id,
  run_id,
  assistant_id: 'chat',
  checkpoint_id: randomUUID(),
  cron_id: randomUUID(),
  job_id: randomUUID(),
  delivery_id: randomUUID(),
  namespace: 'inner',
});

const pathOf = (route: RouteShape, values = params()): string =>
  route.path.replaceAll(/:(\w+)/g, (_, name: string) => values[name] ?? 'x');

interface Answer {
  status: number;
  text: string;
}

const send = async (
  route: RouteShape,
  path: string,
  body?: string | Uint8Array,
  type: string | null = 'application/json',
): Promise<Answer> => {
  const response = await fetch(server.url + path, {
    method: route.method.toUpperCase(),
    ...(body === undefined
      ? {}
      : { body: body as string, headers: type === null ? {} : { 'content-type': type } }),
  });
  return { status: response.status, text: await response.text() };
};

/** A rejection has a problem body in svc's format, and exposes no internals. */
const expectProblem = ({ status, text }: Answer, statuses: number[]): void => {
  expect(statuses, text).toContain(status);
  const problem = JSON.parse(text) as Record<string, unknown>;
  expect(Object.keys(problem).toSorted()).toEqual(['code', 'detail', 'message', 'request_id']);
  expect(text).not.toMatch(/node_modules|\bat \/|select .* from|\.ts:\d/);
};

const expectServing = async (): Promise<void> => {
  expect((await server.call('GET', '/ok?check_db=1')).body).toEqual({ ok: true });
};

describe('a body', () => {
  it('has a valid sample for every route that takes one', () => {
    expect(Object.keys(samples).toSorted()).toEqual(withBody.map(([name]) => name).toSorted());
  });

  const deep = `${'['.repeat(200)}${']'.repeat(200)}`;
  const bodies: [string, string | Uint8Array, number[]][] = [
    ['that is not JSON', '{"a":', [400]],
    ['of invalid UTF-8', Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), [400]],
    ['nested deeper than 100', `{"metadata":${deep}}`, [422]],
    ['with a key twice', '{"metadata":{"a":1,"a":2}}', [422]],
    ['with a key __proto__', '{"metadata":{"__proto__":{"polluted":true}}}', [422]],
    ['with NUL in a string', String.raw`{"metadata":{"a":"x\u0000y"}}`, [422]],
    ['with NUL in a key', String.raw`{"metadata":{"x\u0000y":1}}`, [422]],
    ['with a lone surrogate', String.raw`{"metadata":{"a":"\ud800"}}`, [422]],
    ['with a number that would change', '{"metadata":{"a":9007199254740993}}', [422]],
    ['with a number too large', '{"metadata":{"a":1e400}}', [422]],
    ['over the limit', `{"metadata":{"a":"${'x'.repeat(250_000)}"}}`, [413]],
    ['that is a string', '"hello"', [422]],
    ['that is a number', '42', [422]],
    ['that is null', 'null', [422]],
  ];
  it.each(bodies)('%s is rejected by every route', async (_, body, statuses) => {
    for (const [name, route] of withBody) {
      const wrapped =
        name === 'createRunBatch' && typeof body === 'string' && body.startsWith('{"metadata"')
          ? `[${body}]`
          : body;
      expectProblem(
        await send(route, pathOf(route), wrapped),
        isCommand(name) ? [400, ...statuses] : statuses,
      );
    }
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    await expectServing();
  });

  it('of another content type is rejected by every route', async () => {
    for (const [name, route] of withBody) {
      const body = JSON.stringify(samples[name]);
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
        'nonsense',
      ]) {
        expectProblem(await send(route, pathOf(route), body, type), [415]);
      }
    }
  });

  it(
    'with a field of a wrong type is rejected, and the field is named',
    async () => {
      const wrong: unknown[] = [
        null,
        1,
        'text',
        true,
        [],
        {},
        [[]],
        -1,
        1.5,
        1e9,
        ['x'],
        { $gt: 1 },
        '../../etc',
        "'; drop table threads; --",
      ];
      for (const [name, route] of withBody.filter(([one]) => !isFeed(one))) {
        const shape = (route.body as { shape?: Record<string, unknown> }).shape ?? {};
        for (const field of Object.keys(shape)) {
          for (const value of wrong) {
            const body = JSON.stringify({ ...(samples[name] as object), [field]: value });
            const answer = await send(route, pathOf(route), body);
            expect(answer.status, `${name}.${field} = ${JSON.stringify(value)}: ${answer.text}`).toBeLessThan(
              500 + (answer.status === 501 ? 2 : 0),
            );
            if (answer.status >= 400) expectProblem(answer, [400, 404, 409, 413, 422, 501]);
          }
        }
      }
      await expectServing();
    },
    scaled(300_000),
  );
});

describe('a path', () => {
  const ids = [
    'abc',
    '1',
    '..%2f..',
    '%00',
    '%ff',
    '{}',
    "'",
    '00000000-0000-0000-0000-00000000000g',
    'x'.repeat(5_000),
    '__proto__',
    'constructor',
    'null',
  ];

  it(
    'with an invalid id is rejected by every route',
    async () => {
      for (const [name, route] of routes.filter(([, one]) => one.params)) {
        for (const field of Object.keys(route.params?.shape ?? {})) {
          for (const id of ids) {
            const answer = await send(
              route,
              pathOf(route, { ...params(), [field]: id }),
              route.body ? JSON.stringify(samples[name]) : undefined,
            );
            const isHarmless = field === 'namespace' || answer.status === 204;
            if (!isHarmless) expectProblem(answer, [400, 404, 409, 414, 422]);
            expect(answer.status, `${name} ${field}=${id}`).toBeLessThan(500);
          }
        }
      }
      await expectServing();
    },
    scaled(120_000),
  );

  it('with an unknown id returns the same 404 on every route', async () => {
    for (const [name, route] of routes.filter(([one]) => !isFeed(one) && !isCommand(one))) {
      for (const field of Object.keys(route.params?.shape ?? {}).filter((key) => key !== 'namespace')) {
        const id = randomUUID();
        const answer = await send(
          route,
          pathOf(route, { ...params(), [field]: id }),
          route.body ? JSON.stringify(samples[name]) : undefined,
        );
        expectProblem(answer, name === 'deleteAssistant' ? [404, 409] : [404]);
      }
    }
  });

  it('without a route returns 404, and an unknown method 405', async () => {
    expect((await server.call('GET', '/nothing')).body).toMatchObject({ code: 'not_found' });
    const answer = await server.call('DELETE', '/threads/search');
    expect([404, 405, 422]).toContain(answer.status);
    expect((await server.call('PUT', '/threads')).status).toBe(405);
  });
});

describe('a query', () => {
  const values = ['-1', '1.5', '1e9', 'abc', '', '%00', "'", '99999999999999999999', '[', '["a"', '{}'];

  it(
    'with a value of a wrong type is rejected by every route',
    async () => {
      for (const [name, route] of routes.filter(([, one]) => one.query)) {
        for (const field of Object.keys(route.query?.shape ?? {})) {
          for (const value of values) {
            const answer = await send(
              route,
              `${pathOf(route)}?${field}=${value}`,
              route.body ? JSON.stringify(samples[name]) : undefined,
            );
            expect(answer.status, `${name} ?${field}=${value}: ${answer.text.slice(0, 200)}`).toBeLessThan(
              500,
            );
            if (answer.status >= 400) expectProblem(answer, [400, 404, 409, 422]);
          }
        }
      }
      await expectServing();
    },
    scaled(300_000),
  );

  it.each(['-1', '1.5', '1000000000', '0'])('with limit %s is rejected', async (limit) => {
    expect((await server.call('GET', `/threads/${thread_id}/history?limit=${limit}`)).status).toBe(422);
    expect((await server.call('GET', `/threads/${thread_id}/runs?limit=${limit}`)).status).toBe(422);
    expect((await server.call('POST', '/threads/search', { limit: Number(limit) })).status).toBe(422);
  });
});

describe('an unknown name in a request', () => {
  const cases: [string, string, string, unknown, number, RegExp][] = [
    ['a sort_by', 'POST', '/threads/search', { sort_by: 'name; drop table' }, 422, /sort_by/],
    [
      'an assistant',
      'POST',
      '/runs/wait',
      { assistant_id: 'nobody' },
      404,
      /No assistant found for "nobody"\. Available graphs: .*chat/,
    ],
    ['a graph', 'POST', '/assistants', { graph_id: 'nobody' }, 404, /No graph found for "nobody"/],
    ['a graph id of the language', 'POST', '/assistants', { graph_id: '__proto__' }, 404, /No graph found/],
    [
      'a stream mode',
      'POST',
      '/runs/stream',
      { assistant_id: 'chat', stream_mode: 'everything' },
      422,
      /stream_mode/,
    ],
    ['a strategy', 'POST', '/runs', { assistant_id: 'chat', after_seconds: -1 }, 422, /after_seconds/],
    [
      'a filter operator',
      'POST',
      '/store/items/search',
      { filter: { a: { $regex: 'x' } } },
      422,
      /\$regex is not an operator/,
    ],
  ];
  it.each(cases)('is rejected with a message: %s', async (_, method, path, body, status, sentence) => {
    const answer = await server.call(method, path, body);
    expect(answer.status).toBe(status);
    expect((answer.body as { message: string }).message).toMatch(sentence);
  });

  it('is rejected for a node in as_node', async () => {
    // A minute after a test has given it a time to live, the common thread is deleted.
    const answer = await server.call('POST', `/threads/${await createThread()}/state`, {
      values: { messages: [] },
      as_node: 'nobody',
    });
    expect(answer.status).toBe(422);
    expect((answer.body as { message: string }).message).toMatch(/Node "nobody" does not exist/);
  });

  it('in supersteps leaves no thread behind', async () => {
    const id = randomUUID();
    const supersteps = [{ updates: [{ values: {}, as_node: 'nobody' }] }];
    const answer = await server.call('POST', '/threads', {
      thread_id: id,
      metadata: { graph_id: 'chat' },
      supersteps,
    });
    expect(answer.status).toBe(422);
    expect((await server.call('GET', `/threads/${id}`)).status).toBe(404);
  });
});

describe('a graph', () => {
  const wait = (graph: string, input: unknown) =>
    server.call('POST', '/runs/wait', { assistant_id: graph, input });

  it('that cannot be loaded ends its runs with the reason', async () => {
    expect((await wait('broken', {})).body).toMatchObject({
      __error__: { message: expect.stringMatching(/this module cannot be loaded/) as string },
    });
    expect((await wait('missing-export', {})).body).toMatchObject({
      __error__: { message: expect.stringMatching(/does not export nothing; it exports/) as string },
    });
    const schemas = await server.call('GET', '/assistants/broken/schemas');
    expect(schemas.status).toBe(422);
    await expectServing();
  });

  it('whose output JSON cannot represent ends its run as an error that names the value', async () => {
    const thread = (await server.call('POST', '/threads', {})).body as { thread_id: string };
    const answer = await server.call('POST', `/threads/${thread.thread_id}/runs/wait`, {
      assistant_id: 'probe',
      input: { do: 'circle' },
    });
    expect(answer.body).toMatchObject({
      __error__: { message: expect.stringMatching(/values\.out/) as string },
    });
    expect((await server.call('GET', `/threads/${thread.thread_id}/state`)).status).toBeLessThan(500);
    await expectServing();
  });

  it('may return values that need conversion: dates, NUL, lone surrogates, undefined', async () => {
    const thread = (await server.call('POST', '/threads', {})).body as { thread_id: string };
    for (const [action, out] of [
      ['date', '1970-01-01T00:00:00.000Z'],
      ['nul', 'a\u0000b\ud800'],
    ] as const) {
      const answer = await server.call('POST', `/threads/${thread.thread_id}/runs/wait`, {
        assistant_id: 'probe',
        input: { do: action },
      });
      expect(answer.body).toMatchObject({ out });
      expect((await server.call('GET', `/threads/${thread.thread_id}`)).body).toMatchObject({
        values: { out },
      });
    }
  });
});

describe('an invalid HTTP request', () => {
  const raw = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(server.url);
      const socket = connect(Number(port), hostname, () => socket.write(text));
      let answer = '';
      socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
      socket.on('close', () => resolve(answer));
      socket.on('error', reject);
      socket.setTimeout(5_000, () => socket.destroy());
    });

  it.each([
    ['garbage', 'hello\r\n\r\n', 400],
    [
      'two content lengths',
      'POST /threads HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}',
      400,
    ],
    ['a header of 20 KB', `GET /ok HTTP/1.1\r\nhost: x\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ])('with %s is rejected', async (_, text, status) => {
    expect(await raw(text)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    await expectServing();
  });
});
