// The server in an Express application: examples/embed-express.
import { randomUUID } from 'node:crypto';
import express from 'express';
import { createClient } from '@svc/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createProgram, options } from '../../../../examples/embed-express/program.ts';
import type { SvcHandler, SvcHandlerOptions } from '../../src/index.ts';
import { testDatabase } from '../database.ts';
import { openStream, projectWith } from '../edge/wire.ts';
import { eventually } from '../eventually.ts';
import { type HttpServer, serveHttp } from '../serve-http.ts';
import { isRunEnd } from '../thread-protocol/feed.ts';
import { openSocket, refusal } from '../thread-protocol/socket.ts';
import { openDataFolder, openHandler } from './open-handler.ts';
import { fixture } from '../fixture.ts';

const database = fixture(() => testDatabase());
const folder = fixture(() => openDataFolder());

const open = (options: SvcHandlerOptions): Promise<SvcHandler> =>
  openHandler(options, { database, dataDir: folder.dataDir });

describe('examples/embed-express', () => {
  let svc: SvcHandler;
  let program: HttpServer;
  beforeAll(async () => {
    svc = await open(options);
    program = await serveHttp(createProgram(svc));
  });
  afterAll(async () => {
    await program?.[Symbol.asyncDispose]();
    await svc?.close();
  });

  const clientOf = (name: string) =>
    createClient({
      apiUrl: `${program.url}/agents`,
      headers: { authorization: `Bearer token-of-${name}` },
    });

  it('serves agents to the users of the application', async () => {
    const ann = clientOf('ann');
    const { thread_id, metadata } = await ann.threads.create();
    expect(metadata).toMatchObject({ owner: 'ann', svc_auth_user_id: 'ann' });
    expect(await ann.runs.wait(thread_id, 'greeter', { input: { name: 'Ann' } })).toMatchObject({
      greeting: 'Hello, Ann!',
    });
    await expect(clientOf('bob').threads.get(thread_id)).rejects.toMatchObject({ status: 404 });
    await expect(clientOf('eve').threads.get(thread_id)).rejects.toMatchObject({
      status: 401,
      message: expect.stringContaining('The request is not authenticated'),
    });
  });

  it('has WebSockets for its users', async () => {
    const open = (name: string, thread_id: string) =>
      openSocket(`${program.url}/agents`, thread_id, {
        headers: { authorization: `Bearer token-of-${name}` },
      });
    const thread_id = randomUUID();
    const socket = await open('ann', thread_id);
    await socket.command('subscription.subscribe', { channels: ['values', 'lifecycle'] });
    await socket.command('run.start', { assistant_id: 'greeter', input: { name: 'Ann' } });
    const values = (await socket.until(isRunEnd)).findLast(({ method }) => method === 'values');
    expect(values?.params.data).toMatchObject({ greeting: 'Hello, Ann!' });
    const his = await open('bob', thread_id);
    expect(await his.command('state.get')).toMatchObject({ error: 'invalid_argument' });
    expect(await refusal(open('eve', thread_id))).toMatchObject({ status: 401 });
    for (const { ws } of [socket, his]) ws.close();
  });

  it('keeps the other routes of the application', async () => {
    const home = await fetch(program.url, { headers: { authorization: 'Bearer token-of-bob' } });
    expect(await home.text()).toBe('Hello, bob!');
    expect((await fetch(`${program.url}/ok`)).status).toBe(404);
    expect((await fetch(`${program.url}/agents/ok`)).status).toBe(200);
    expect((await fetch(`${program.url}/agents/nowhere`)).status).toBe(404);
    expect((await fetch(`${program.url}/agentsmith`)).status).toBe(404);
  });

  it('answers malformed requests as a server of its own', async () => {
    expect((await fetch(`${program.url}/agents/threads%2f1`)).status).toBe(400);
    const json = { 'content-type': 'application/json', authorization: 'Bearer token-of-ann' };
    const broken = await fetch(`${program.url}/agents/threads`, { method: 'POST', headers: json, body: '{' });
    expect(broken.status).toBe(400);
  });
});

describe('a handler without authentication', () => {
  it('is refused, unless it is meant', async () => {
    await using project = await projectWith({});
    await expect(open({ config: project.file })).rejects.toThrow('allowAnonymous');
    await expect(open({ config: project.file, prefix: 'agents' })).rejects.toThrow('is not a path of a URL');
    await expect(open({ config: `${project.file}.missing` })).rejects.toThrow('there is no such config file');
  });
});

describe('a handler in an Express application', () => {
  let project: AsyncDisposable & { file: string };
  let svc: SvcHandler;
  let program: HttpServer;
  beforeAll(async () => {
    project = await projectWith({});
    svc = await open({
      config: project.file,
      prefix: '/agents',
      allowAnonymous: true,
      settings: { bodyLimit: '200kb' },
    });
    const parsing = express
      .Router()
      .use(express.json({ limit: '10mb' }), express.text({ type: 'text/html' }));
    program = await serveHttp(
      express()
        .use('/parsed', parsing)
        .use('/parsed', (request, _response, next) => {
          // As if the parsers were those of the whole application.
          request.originalUrl = request.originalUrl.replace('/parsed', '/agents');
          next();
        })
        .use('/parsed', svc.node)
        .use(svc.node)
        .use((_request, response) => void response.status(404).send('of the application')),
    );
  });
  afterAll(async () => {
    await program?.[Symbol.asyncDispose]();
    await svc?.close();
    await project?.[Symbol.asyncDispose]();
  });

  const call = async (path: string, body: string, type = 'application/json'): Promise<[number, unknown]> => {
    const headers = { 'content-type': type };
    const response = await fetch(program.url + path, { method: 'POST', headers, body });
    return [response.status, await response.json().catch(() => undefined)];
  };

  it('passes requests for other paths on', async () => {
    expect(await (await fetch(`${program.url}/elsewhere`)).text()).toBe('of the application');
    expect((await fetch(`${program.url}/agents`)).status).toBe(200);
  });

  it('reads bodies that a parser of the application has read', async () => {
    const metadata = { a: [1, 'ü'] };
    expect(await call('/parsed/threads', JSON.stringify({ metadata }))).toMatchObject([200, { metadata }]);
    expect(await call('/parsed/threads', '{"metadata": 1}')).toMatchObject([422, {}]);
    expect(await call('/parsed/threads', '{}', 'text/html')).toMatchObject([415, {}]);
  });

  it('limits bodies, parsed or not', async () => {
    const large = JSON.stringify({ metadata: { large: 'x'.repeat(300_000) } });
    expect(await call('/agents/threads', large)).toMatchObject([413, { code: 'too_large' }]);
    expect(await call('/parsed/threads', large)).toMatchObject([413, { code: 'too_large' }]);
    const chunked = await fetch(`${program.url}/agents/threads`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: new Blob([large]).stream(),
      duplex: 'half',
    });
    expect(chunked.status).toBe(413);
  });

  it('streams at once, and cancels the run of a client that disconnects', async () => {
    const client = createClient({ apiUrl: `${program.url}/agents` });
    const { thread_id } = await client.threads.create();
    const { status, socket } = await openStream(program, {
      method: 'POST',
      path: `/agents/threads/${thread_id}/runs/stream`,
      headers: [['content-type', 'application/json']],
      body: JSON.stringify({ assistant_id: 'barrier', input: { do: 'x' }, on_disconnect: 'cancel' }),
    });
    expect(status).toBe(200);
    const run = await eventually(async () => {
      const [first] = await client.runs.list(thread_id);
      expect(first?.status).toBe('running');
      return first;
    });
    socket.destroy();
    await eventually(async () =>
      expect((await client.runs.get(thread_id, run?.run_id ?? '')).status).toBe('interrupted'),
    );
  });
});

describe('two handlers in a process', () => {
  it('have databases and users of their own', async () => {
    await using second = await testDatabase();
    await using project = await projectWith({});
    const seen: unknown[] = [];
    const authenticate: SvcHandlerOptions['authenticate'] = (request, host) => {
      seen.push(host);
      return request.headers.get('x-user');
    };
    await using one = await open({ config: project.file, authenticate, prefix: '/one' });
    await using other = await openDataFolder();
    const elsewhere = { database: second, dataDir: other.dataDir };
    await using two = await openHandler({ config: project.file, authenticate }, elsewhere);
    const create = async (handler: SvcHandler, path: string, user: string, host?: unknown) => {
      const headers = { 'content-type': 'application/json', 'x-user': user };
      const request = new Request(`http://app.example${path}`, { method: 'POST', headers, body: '{}' });
      return handler.fetch(request, host);
    };
    const created = (await (await create(one, '/one/threads', 'ann', { of: 'hono' })).json()) as {
      thread_id: string;
    };
    expect(created).toMatchObject({ metadata: { svc_auth_user_id: 'ann' } });
    expect(seen).toEqual([{ of: 'hono' }]);
    expect((await create(one, '/threads', 'ann')).status).toBe(404);
    const missing = await two.fetch(
      new Request(`http://app.example/threads/${created.thread_id}`, { headers: { 'x-user': 'ann' } }),
    );
    expect(missing.status).toBe(404);
    expect(missing.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    const refused = await two.fetch(new Request(`http://app.example/threads/${created.thread_id}`));
    expect(refused.status).toBe(401);
  });
});
