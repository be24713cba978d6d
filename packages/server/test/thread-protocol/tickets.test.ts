// Tickets open one WebSocket each, for the user who created them, on any node.
import { randomBytes, randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Client } from '@langchain/langgraph-sdk';
import { createClient } from '@svc/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { ticketStorage } from '../../src/storage/auth/tickets.ts';
import { signedIn } from '../console/tab.ts';
import { eventually } from '../eventually.ts';
import { testDatabase } from '../database.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { isRunEnd } from './feed.ts';
import { openSocket, refusal } from './socket.ts';
import { fixture } from '../fixture.ts';

const project = fileURLToPath(new URL('../access/project/svc.json', import.meta.url));
const encryptionKey = randomBytes(32).toString('base64');
const apiKeys = randomBytes(32).toString('hex');

const database = fixture(() => testDatabase());
/** Nodes of one deployment. The first executes the runs of all. */
let server: TestServer;
let other: TestServer;
/** A node with the same database that authenticates by a key. */
let withKey: TestServer;
/** A node that allows pages of another origin. */
let withOrigin: TestServer;
beforeAll(async () => {
  const settings = { encryptionKey };
  server = await startTestServer({ project, database, settings });
  other = await startTestServer({ project, database, settings, executors: 'none' });
  withOrigin = await startTestServer({
    project,
    database,
    executors: 'none',
    settings: { ...settings, corsOrigins: 'https://friend.test' },
  });
  withKey = await startTestServer({ database, settings: { ...settings, apiKeys }, executors: 'none' });
});
afterAll(async () => {
  for (const node of [server, other, withKey, withOrigin]) await node[Symbol.asyncDispose]();
});

interface Created {
  ticket: string;
  expires_at: string;
}

const create = (user: string) =>
  server.call('POST', '/auth/tickets', undefined, { authorization: `Bearer ${user}` });
const ticketOf = async (user: string): Promise<string> => ((await create(user)).body as Created).ticket;
const open = (node: TestServer, ticket: string, thread_id: string = randomUUID()) =>
  openSocket(node.url, thread_id, { query: `?ticket=${ticket}` });
const refused = { status: 401, body: { code: 'unauthenticated' } };

describe('a ticket', () => {
  it('opens one socket, for its user, on any node', async () => {
    const before = Date.now();
    const answer = await create('alice');
    const after = Date.now();
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const { ticket, expires_at } = answer.body as Created;
    // PostgreSQL and the test read the same clock; the transaction may be older than its response, not than the request.
    expect(Date.parse(expires_at)).toBeGreaterThanOrEqual(before + 60_000 - 1);
    expect(Date.parse(expires_at)).toBeLessThanOrEqual(after + 60_000);
    const thread_id = randomUUID();
    const socket = await open(other, ticket, thread_id);
    await socket.command('subscription.subscribe', { channels: ['lifecycle', 'values'] });
    const started = await socket.command('run.start', { assistant_id: 'probe', input: { action: 'user' } });
    expect(started).toMatchObject({ type: 'success' });
    const events = await socket.until(isRunEnd);
    // The graph gets the user with all fields.
    expect(JSON.stringify(events)).toContain('alice');
    const { body } = await server.call('GET', `/threads/${thread_id}`, undefined, {
      authorization: 'Bearer alice',
    });
    expect(body).toMatchObject({ metadata: { owner: 'alice' } });
    expect(await refusal(open(server, ticket))).toMatchObject(refused);
    expect(await refusal(open(other, ticket))).toMatchObject(refused);
    socket.ws.close();
  });

  it('is accepted once when it is used twice at the same time', async () => {
    const ticket = await ticketOf('alice');
    const results = await Promise.allSettled([server, other].map((node) => open(node, ticket)));
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    for (const result of results) if (result.status === 'fulfilled') result.value.ws.close();
  });

  it('opens no socket for a page of an origin that is not allowed, and stays valid', async () => {
    const query = `?ticket=${await ticketOf('alice')}`;
    const openFrom = (headers: Record<string, string>) =>
      openSocket(server.url, randomUUID(), { query, headers });
    for (const headers of [{ origin: 'https://evil.test' }, { 'sec-fetch-site': 'cross-site' }])
      expect(await refusal(openFrom(headers))).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    (await openFrom({ origin: server.url })).ws.close();
    const listed = await openSocket(withOrigin.url, randomUUID(), {
      query: `?ticket=${await ticketOf('alice')}`,
      headers: { origin: 'https://friend.test', 'sec-fetch-site': 'cross-site' },
    });
    listed.ws.close();
  });

  it('has the rights of its user', async () => {
    const thread_id = randomUUID();
    const hers = await open(server, await ticketOf('alice'), thread_id);
    await hers.command('run.start', { assistant_id: 'probe', input: { action: 'user' } });
    const his = await open(server, await ticketOf('bob'), thread_id);
    expect(await his.command('state.get')).toMatchObject({ error: 'invalid_argument' });
    for (const { ws } of [hers, his]) ws.close();
  });

  it('is stored as a hash, with the user encrypted', async () => {
    const ticket = await ticketOf('carol');
    const text = 'select t::text as row from tickets t';
    const rows = JSON.stringify(await database.query({ name: 'all_tickets', text }, []));
    expect(rows).not.toContain(ticket);
    expect(rows).not.toContain(Buffer.from(ticket).toString('hex'));
    expect(rows).not.toMatch(/carol|secret-of/);
  });

  it('expires, and is deleted', async () => {
    const ticket = await ticketOf('alice');
    await database.query({ name: 'age', text: 'update tickets set expires_at = now()' }, []);
    expect(await refusal(open(server, ticket))).toMatchObject(refused);
    await ticketOf('alice');
    await ticketOf('alice');
    await database.query({ name: 'age', text: 'update tickets set expires_at = now()' }, []);
    const live = await ticketOf('alice');
    await ticketStorage(database).deleteExpired(1_000);
    expect(
      await database.query({ name: 'count', text: 'select count(*)::int as n from tickets' }, []),
    ).toEqual([{ n: 1 }]);
    (await open(server, live)).ws.close();
  });

  it('that is unknown, malformed or of a node that authenticates otherwise is refused', async () => {
    for (const ticket of ['', 'x', randomBytes(32).toString('base64url'), 'y'.repeat(300)])
      expect(await refusal(open(server, ticket))).toMatchObject(refused);
    const made = await withKey.call('POST', '/auth/tickets', undefined, { 'x-api-key': apiKeys });
    expect(await refusal(open(server, (made.body as Created).ticket))).toMatchObject(refused);
    expect(await refusal(open(withKey, await ticketOf('alice')))).toMatchObject(refused);
  });

  it('opens a socket of a caller with a key', async () => {
    const client = createClient({ apiUrl: withKey.url, apiKey: apiKeys });
    const { ticket } = await client.threads.createTicket();
    const socket = await open(withKey, ticket);
    const run = { assistant_id: 'probe', input: { do: 'sleep', ms: 1 } };
    expect(await socket.command('run.start', run)).toMatchObject({ type: 'success' });
    socket.ws.close();
  });

  it('opens a socket for a session of the console; its cookie alone does not', async () => {
    const tab = await signedIn(withKey.url, { key: apiKeys });
    const thread_id = randomUUID();
    // A browser sends the cookie with a handshake, and cannot send the CSRF token.
    const { 'x-svc-csrf': _, ...handshake } = tab.headers;
    const withCookie = (query = '') => openSocket(withKey.url, thread_id, { headers: handshake, query });
    expect(await refusal(withCookie())).toMatchObject(refused);
    expect(await tab.send('POST', '/auth/tickets', undefined, { 'x-svc-csrf': undefined })).toMatchObject(
      refused,
    );
    const { body } = await tab.send('POST', '/auth/tickets');
    const socket = await withCookie(`?ticket=${(body as Created).ticket}`);
    const run = { assistant_id: 'probe', input: { do: 'sleep', ms: 1 } };
    expect(await socket.command('run.start', run)).toMatchObject({ type: 'success' });
    await socket.command('subscription.subscribe', { channels: ['lifecycle'] });
    await socket.until(isRunEnd);
    socket.ws.close();
  });

  it('lets the stock client connect, and connect again', async () => {
    const headers = { authorization: 'Bearer alice' };
    let ticket = await ticketOf('alice');
    const sockets: WebSocket[] = [];
    const thread = new Client({ apiUrl: server.url }).threads.stream(randomUUID(), {
      assistantId: 'probe',
      transport: 'websocket',
      webSocketFactory: (url) => {
        const socket = new WebSocket(`${url}?ticket=${ticket}`);
        sockets.push(socket);
        return socket as unknown as globalThis.WebSocket;
      },
      onReconnect: () => void ticketOf('alice').then((next) => (ticket = next)),
    });
    await thread.run.start({ input: { action: 'user' } });
    await thread.output;
    sockets[0]?.terminate();
    await eventually(() => expect(sockets[1]?.readyState).toBe(WebSocket.OPEN));
    await eventually(async () => {
      const { values } = await thread.state.get({ namespace: [] });
      expect(JSON.stringify(values)).toContain('alice');
    });
    const { body } = await server.call('GET', `/threads/${thread.threadId}`, undefined, headers);
    expect(body).toMatchObject({ metadata: { owner: 'alice' } });
    await thread.close();
  });

  it('is no credential of other requests', async () => {
    const ticket = await ticketOf('alice');
    for (const path of ['/assistants/search', '/auth/tickets', `/threads/${randomUUID()}/commands`])
      expect(await server.call('POST', `${path}?ticket=${ticket}`, {})).toMatchObject({ status: 401 });
    (await open(server, ticket)).ws.close();
  });

  it('is one of at most a hundred of a caller', async () => {
    for (let at = 0; at < 100; at++) expect(await create('dave')).toMatchObject({ status: 200 });
    expect(await create('dave')).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect(await create('erin')).toMatchObject({ status: 200 });
  });

  it('needs authentication', async () => {
    expect(await server.call('POST', '/auth/tickets')).toMatchObject({ status: 401 });
  });
});
