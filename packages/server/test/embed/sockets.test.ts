// WebSockets of a program that contains the server: its 'upgrade' listener passes them to the handler.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { access, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createSecureServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket as NodeSocket, WebSocketServer } from 'ws';
import type { SvcHandler, SvcHandlerOptions } from '../../src/index.ts';
import { chatInput } from '../chat-input.ts';
import { collect } from '../collect.ts';
import { testDatabase } from '../database.ts';
import { exchange, projectWith, send } from '../edge/wire.ts';
import { eventually } from '../eventually.ts';
import { serveHttp } from '../serve-http.ts';
import { isRunEnd, readFeed } from '../thread-protocol/feed.ts';
import { openSocket, type OpenSocket, refusal } from '../thread-protocol/socket.ts';
import { openDataFolder, openHandler } from './open-handler.ts';
import { fixture } from '../fixture.ts';

const fileOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const database = fixture(() => testDatabase());
const folder = fixture(() => openDataFolder());
const project = fixture(() =>
  projectWith({
    graphs: {
      chat: fileOf('../graphs/chat.ts:chat'),
      approval: fileOf('../graphs/approval.ts:approval'),
      probe: fileOf('../graphs/probe.ts:probe'),
    },
    // Users see their own threads.
    auth: { path: fileOf('../../../../examples/embed-express/auth.ts:auth') },
  }),
);

interface Program extends AsyncDisposable {
  url: string;
  svc: SvcHandler;
  /** The arguments of `authenticate`. */
  hosts: unknown[];
}

const authenticate = (request: Request): string | undefined =>
  request.headers.get('x-user') ?? /user=(\w+)/.exec(request.headers.get('cookie') ?? '')?.[1];

/** A program with the routes below /agents, a page of its own, and a WebSocket of its own. */
const startProgram = async (options: SvcHandlerOptions = { prefix: '/agents' }): Promise<Program> => {
  const hosts: unknown[] = [];
  const svc = await openHandler(
    {
      config: project.file,
      authenticate: (request, host) => {
        hosts.push(host);
        return authenticate(request);
      },
      ...options,
    },
    { database, dataDir: folder.dataDir },
  );
  const own = new WebSocketServer({ noServer: true });
  const server = createServer((request, response) =>
    svc.node(request, response, () => response.end('of the program')),
  );
  server.on('upgrade', (request, socket, head) => {
    if (svc.upgrade(request, socket, head)) return;
    if (request.url === '/own') own.handleUpgrade(request, socket, head, (ws) => ws.send('of the program'));
    else socket.destroy();
  });
  const program = await serveHttp(server);
  return {
    url: program.url,
    svc,
    hosts,
    async [Symbol.asyncDispose]() {
      await svc.close();
      await program[Symbol.asyncDispose]();
    },
  };
};

let program: Program;
beforeAll(async () => {
  program = await startProgram();
});
afterAll(() => program[Symbol.asyncDispose]());

const routes = ({ url }: { url: string } = program): string => `${url}/agents`;

const openAs = async (
  user: string,
  thread_id: string = randomUUID(),
  { of = program }: { of?: { url: string } } = {},
): Promise<OpenSocket> => {
  const socket = await openSocket(routes(of), thread_id, { headers: { 'x-user': user } });
  onTestFinished(() => socket.ws.terminate());
  return socket;
};

const streamAs = (user: string, assistantId: string, thread_id: string = randomUUID()) =>
  new Client({ apiUrl: routes() }).threads.stream(thread_id, {
    assistantId,
    transport: 'websocket',
    webSocketFactory: (url) =>
      new NodeSocket(url, { headers: { 'x-user': user } }) as unknown as globalThis.WebSocket,
  });

describe('the stock client, over a WebSocket of a program', () => {
  it('streams a chat', async () => {
    const thread = streamAs('ann', 'chat');
    const { messages } = thread;
    await thread.run.start({ input: chatInput('hello') });
    const texts: string[] = [];
    for await (const message of messages) texts.push((await collect(message.text)).join(''));
    expect(texts).toEqual(['echo hello']);
    const headers = { 'x-user': 'ann' };
    const found = await fetch(`${routes()}/threads/${thread.threadId}`, { headers });
    expect(await found.json()).toMatchObject({ metadata: { owner: 'ann', svc_auth_user_id: 'ann' } });
    await thread.close();
  });

  it('resumes at the answer of an interrupt', async () => {
    const thread = streamAs('ann', 'approval');
    await thread.run.start({ input: {} });
    await eventually(() => expect(thread.interrupted).toBe(true));
    const interrupt_id = thread.interrupts[0]?.interruptId ?? '';
    await thread.input.respond({ namespace: [], interrupt_id, response: 'yes' });
    await eventually(async () => {
      const { values } = await thread.state.get({ namespace: [] });
      expect(values).toEqual({ log: ['written', 'answered yes', 'sent'] });
    });
    await thread.close();
  });
});

describe('a WebSocket of a program', () => {
  it('has the events that a feed over HTTP has', async () => {
    const thread_id = randomUUID();
    const socket = await openAs('ann', thread_id);
    await socket.command('run.start', { assistant_id: 'chat', input: chatInput('hello') });
    await socket.command('subscription.subscribe', { channels: ['values', 'messages', 'lifecycle'] });
    const channels = ['values', 'messages', 'lifecycle'];
    const feed = await readFeed(routes(), thread_id, isRunEnd, { channels }, { 'x-user': 'ann' });
    expect(await socket.until(isRunEnd)).toEqual(feed);
  });

  it('is authenticated by the program, which gets its own request', async () => {
    expect(await refusal(openSocket(routes(), randomUUID()))).toMatchObject({
      status: 401,
      body: { code: 'unauthenticated' },
    });
    await openAs('ann');
    const { url, headers } = program.hosts.at(-1) as IncomingMessage;
    expect(url).toMatch(/^\/agents\/threads\/[^/]+\/stream\/events$/);
    expect(headers).toMatchObject({ upgrade: 'websocket', 'x-user': 'ann' });
  });

  it('shows a user nothing of the thread of another user', async () => {
    const thread_id = randomUUID();
    const hers = await openAs('ann', thread_id);
    await hers.command('run.start', { assistant_id: 'approval', input: {} });
    await hers.command('subscription.subscribe', { channels: ['lifecycle', 'input'] });
    const events = await hers.until(isRunEnd);
    const interrupt_id = events.find(({ method }) => method === 'input.requested')?.params.data[
      'interrupt_id'
    ];
    const his = await openAs('bob', thread_id);
    for (const [method, params] of [
      ['state.get', {}],
      ['input.respond', { interrupt_id, response: 'his' }],
      ['run.start', { assistant_id: 'chat', input: chatInput('his') }],
    ] as const)
      expect(await his.command(method, params)).toMatchObject({ type: 'error', error: 'invalid_argument' });
    expect(his.events).toEqual([]);
  });

  it('is opened by a ticket, once', async () => {
    const created = await fetch(`${routes()}/auth/tickets`, { method: 'POST', headers: { 'x-user': 'ann' } });
    const { ticket } = (await created.json()) as { ticket: string };
    const query = `?ticket=${ticket}`;
    const thread_id = randomUUID();
    const socket = await openSocket(routes(), thread_id, { query });
    await socket.command('run.start', { assistant_id: 'chat', input: chatInput('hello') });
    const found = await fetch(`${routes()}/threads/${thread_id}`, { headers: { 'x-user': 'ann' } });
    expect(await found.json()).toMatchObject({ metadata: { owner: 'ann' } });
    expect(await refusal(openSocket(routes(), thread_id, { query }))).toMatchObject({ status: 401 });
    socket.ws.close();
  });

  it('is refused to a page of another origin that has the cookie', async () => {
    const open = (origin: string) =>
      openSocket(routes(), randomUUID(), { headers: { cookie: 'user=ann', origin } });
    expect(await refusal(open('https://evil.example'))).toMatchObject({ status: 403 });
    (await open(program.url)).ws.close();
  });

  it('passes the checks of every request', async () => {
    const headers = { 'x-user': 'ann' };
    expect(await refusal(openSocket(routes(), 'no-id', { headers }))).toMatchObject({ status: 422 });
    const slash = openSocket(`${routes()}/threads%2f1`, randomUUID(), { headers });
    expect(await refusal(slash)).toMatchObject({ status: 400 });
  });

  it('counts as a stream of its caller', async () => {
    await using limited = await startProgram({ prefix: '/agents', settings: { streamsPerCaller: '1' } });
    const first = await openAs('ann', randomUUID(), { of: limited });
    expect(await refusal(openAs('ann', randomUUID(), { of: limited }))).toMatchObject({ status: 429 });
    first.ws.close();
    await first.closed;
    await eventually(() => openAs('ann', randomUUID(), { of: limited }));
  });
});

describe('another request to upgrade', () => {
  it('is left to the program when its path is outside of the prefix', async () => {
    const ws = new NodeSocket(`${program.url.replace('http:', 'ws:')}/own`);
    expect(
      await new Promise((resolve) => ws.once('message', (data: Buffer) => resolve(data.toString()))),
    ).toBe('of the program');
    ws.terminate();
    for (const path of ['', '/agentsmith'])
      await expect(openSocket(program.url + path, randomUUID())).rejects.toThrow('socket hang up');
  });

  it.each(['h2c', 'websocket'])('to %s below the prefix is served as without it', async (protocol) => {
    const body = JSON.stringify({ metadata: { text: 'é'.repeat(50_000) } });
    const head =
      `POST /agents/threads HTTP/1.1\r\nhost: localhost\r\nx-user: ann\r\nconnection: Upgrade, HTTP2-Settings\r\n` +
      `upgrade: ${protocol}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`;
    const answers = await exchange(
      program,
      `${head}${Buffer.from(body).toString('latin1')}GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`,
    );
    const statuses = [...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    expect(statuses).toEqual(['200', '200']);
    expect(answers).toMatch(/thread_id[^]*of the program/);
  });

  it('below the prefix gets 404 at a path without a route', async () => {
    expect(await refusal(openSocket(`${routes()}/nowhere`, randomUUID()))).toMatchObject({ status: 404 });
  });

  it('without a prefix is left to the program, unless it is for a WebSocket of the server', async () => {
    await using root = await startProgram({});
    const ws = new NodeSocket(`${root.url.replace('http:', 'ws:')}/own`);
    await new Promise((resolve) => ws.once('message', resolve));
    ws.terminate();
    const socket = await openSocket(root.url, randomUUID(), { headers: { 'x-user': 'ann' } });
    expect(await socket.command('subscription.subscribe', { channels: ['values'] })).toMatchObject({
      type: 'success',
    });
    socket.ws.close();
  });
});

describe('the only listener of a server', () => {
  const page: RequestListener = (request, response) =>
    program.svc.node(request, response, () => response.end('of the program'));

  it('leaves the other paths of the program as they are without it', async () => {
    await using http = await serveHttp(createServer(page).on('upgrade', program.svc.upgrade));
    (await openAs('ann', randomUUID(), { of: http })).ws.close();
    const headers = [
      ['connection', 'upgrade, close'],
      ['upgrade', 'h2c'],
    ] as const;
    for (const path of ['/', '/agentsmith'])
      expect(await send(http, { path, headers })).toMatchObject({ status: 200, body: 'of the program' });
  });

  it('has WebSockets over TLS too', async () => {
    // A shared key needs no certificate.
    const psk = Buffer.from('a key of this test');
    const tls = { ciphers: 'PSK', maxVersion: 'TLSv1.2' } as const;
    const server = createSecureServer({ ...tls, pskCallback: () => psk }, page);
    server.on('upgrade', program.svc.upgrade).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const client = { ...tls, pskCallback: () => ({ psk, identity: 'test' }), rejectUnauthorized: false };
    const socket = await openSocket(routes({ url }), randomUUID(), {
      ...client,
      headers: { 'x-user': 'ann' },
    });
    expect(await socket.command('subscription.subscribe', { channels: ['values'] })).toMatchObject({
      type: 'success',
    });
    socket.ws.close();
    await socket.closed;
    const other = request(url, { ...client, headers: { connection: 'upgrade', upgrade: 'h2c' } }).end();
    const [response] = (await once(other, 'response')) as [IncomingMessage];
    expect(await text(response)).toBe('of the program');
  });
});

describe('a program that does not pass upgrades to the handler', () => {
  it('answers a handshake with 501, and names what is missing', async () => {
    await using http = await serveHttp(program.svc.node);
    const headers = { 'x-user': 'ann' };
    const refused = await refusal(openSocket(routes(http), randomUUID(), { headers }));
    expect(refused).toMatchObject({
      status: 501,
      body: { code: 'not_supported', message: expect.stringContaining('svc.upgrade') },
    });
    const path = `/agents/threads/${randomUUID()}/stream/events`;
    expect(await send(http, { path, headers: [['x-user', 'ann']] })).toMatchObject({ status: 426 });
  });
});

describe('a handler that stops', () => {
  it('keeps its WebSockets while runs end, and then asks the clients to connect again', async () => {
    await using stopping = await startProgram({ prefix: '/agents', settings: { shutdownGrace: '10m' } });
    const socket = await openAs('ann', randomUUID(), { of: stopping });
    await socket.command('subscription.subscribe', { channels: ['lifecycle', 'custom'] });
    const file = join(folder.dataDir, 'may-end');
    await socket.command('run.start', { assistant_id: 'probe', input: { do: 'writeWhen', out: file } });
    await eventually(() => access(`${file}.begun`));
    const drained = stopping.svc.drain();
    await writeFile(file, '');
    await drained;
    expect((await socket.until(isRunEnd)).at(-1)?.params.data).toMatchObject({ event: 'completed' });
    expect(socket.ws.readyState).toBe(NodeSocket.OPEN);
    await stopping.svc.close();
    expect(await socket.closed).toEqual({ code: 1012, reason: 'The server restarts.' });
    expect(await refusal(openAs('ann', randomUUID(), { of: stopping }))).toMatchObject({ status: 503 });
  });

  it('answers the command in flight before it closes', async () => {
    await using stopping = await startProgram();
    const socket = await openAs('ann', randomUUID(), { of: stopping });
    const started = socket.command('run.start', { assistant_id: 'probe', input: { do: 'sleep', ms: 1 } });
    // The response to a ping comes after the server has read the command.
    socket.ws.ping();
    await new Promise((resolve) => socket.ws.once('pong', resolve));
    await stopping.svc.close();
    expect(await started).toMatchObject({ type: 'success' });
    expect(await socket.closed).toMatchObject({ code: 1012 });
  });

  it('closes the connection of a client that does not answer', async () => {
    await using stopping = await startProgram();
    const socket = await openAs('ann', randomUUID(), { of: stopping });
    socket.ws.pause();
    await stopping.svc.close();
    socket.ws.resume();
    expect(await socket.closed).toMatchObject({ code: 1012 });
  });
});
