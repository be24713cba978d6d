// The sessions of a user, and streams that end with their session.
import { fileURLToPath } from 'node:url';
import type { ListedSession, Thread } from '@svc/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../server.ts';
import { signedIn, type Tab } from './tab.ts';

const project = fileURLToPath(new URL('./project/svc.json', import.meta.url));

let server: TestServer;
let other: TestServer;
beforeAll(async () => {
  const settings = { encryptionKey: 'ab'.repeat(32) };
  server = await startTestServer({ executors: 'none', project, settings });
  other = await startTestServer({ executors: 'none', project, settings, database: server.database });
});
afterAll(async () => {
  await other[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const sessionsOf = async (tab: Tab): Promise<ListedSession[]> => {
  const { status, body } = await tab.send('GET', '/console/auth/sessions');
  expect(status).toBe(200);
  return body as ListedSession[];
};

describe('the list of sessions', () => {
  it('has those of the user, with their browsers, and says which one is its own', async () => {
    const first = await signedIn(server.url, { token: 'ann' });
    const second = await signedIn(other.url, { token: 'ann' });
    await signedIn(server.url, { token: 'ben' });
    const listed = await sessionsOf(first);
    expect(listed.filter(({ is_current }) => is_current).length).toBe(1);
    expect(listed.length).toBe(2);
    expect(listed.map(({ browser }) => browser)).toEqual(['node', 'node']);
    const [own] = listed.filter(({ is_current }) => is_current);
    const [ofSecond] = (await sessionsOf(second)).filter(({ is_current }) => is_current);
    expect(ofSecond?.id).not.toBe(own?.id);
    expect(JSON.stringify(listed)).not.toContain(first.cookie?.split('=')[1]);
  });

  it('ends one of them, and no other', async () => {
    const first = await signedIn(server.url, { token: 'carl' });
    const second = await signedIn(server.url, { token: 'carl' });
    const [gone] = (await sessionsOf(first)).filter(({ is_current }) => !is_current);
    const path = `/console/auth/sessions/${gone?.id}`;
    expect(await first.send('DELETE', path)).toMatchObject({ status: 204 });
    expect(await first.send('DELETE', path)).toMatchObject({ status: 404 });
    expect(await second.send('POST', '/threads/search', {})).toMatchObject({ status: 401 });
    expect(await first.send('POST', '/threads/search', {})).toMatchObject({ status: 200 });
  });

  it('ends no session of another user', async () => {
    const dora = await signedIn(server.url, { token: 'dora' });
    const emil = await signedIn(server.url, { token: 'emil' });
    const [own] = await sessionsOf(dora);
    expect(await emil.send('DELETE', `/console/auth/sessions/${own?.id}`)).toMatchObject({ status: 404 });
    expect(await dora.send('POST', '/threads/search', {})).toMatchObject({ status: 200 });
  });

  it('needs a session, its CSRF token, and an id', async () => {
    const tab = await signedIn(server.url, { token: 'fay' });
    const without = { 'x-svc-csrf': undefined };
    for (const [method, path] of [
      ['GET', '/console/auth/sessions'],
      ['DELETE', `/console/auth/sessions/${'0'.repeat(64)}`],
    ] as const)
      expect(await tab.send(method, path, undefined, without)).toMatchObject({ status: 401 });
    expect(await tab.send('DELETE', '/console/auth/sessions/mine')).toMatchObject({ status: 422 });
  });
});

describe('a stream', () => {
  /** The stream of a thread: it has no end. */
  const openStream = async (tab: Tab): Promise<{ closed: Promise<string> }> => {
    const { thread_id } = (await tab.send('POST', '/threads', {})).body as Thread;
    const response = await fetch(`${tab.url}/threads/${thread_id}/stream`, { headers: tab.headers });
    expect(response.status).toBe(200);
    const closed = response.text().then(
      () => 'to its end',
      () => 'broken off',
    );
    return { closed };
  };

  it.each(['this', 'another'])('ends with its session, ended on %s node', async (node) => {
    const tab = await signedIn(server.url, { token: 'gil' });
    const stays = await signedIn(server.url, { token: 'hal' });
    const { closed } = await openStream(tab);
    const open = await openStream(stays);
    const elsewhere = await signedIn(node === 'this' ? server.url : other.url, { token: 'gil' });
    await elsewhere.send('DELETE', '/console/auth/sessions');
    expect(await closed).toBe('broken off');
    expect(await Promise.race([open.closed, Promise.resolve('open')])).toBe('open');
    await stays.send('DELETE', '/console/auth/session');
    expect(await open.closed).toBe('broken off');
  });
});
