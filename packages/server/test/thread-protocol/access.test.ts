// Commands and feeds are authorized like the routes of the REST API: by the same events, with the same payloads and filters.
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { authProjects, type AuthProjects } from '../access/auth-projects.ts';
import type { TestServer } from '../server.ts';
import { command } from './command.ts';
import { isRunEnd, readFeed } from './feed.ts';
import { openSocket, refusal } from './socket.ts';

let projects: AuthProjects;
let server: TestServer;
beforeAll(async () => {
  projects = authProjects();
  // The name of a user begins with what the user may do.
  server = await projects.serve(`
    const rights = {
      all: () => true,
      reader: (event) => event === 'threads:read',
      writer: (event) => event === 'threads:create_run' || event === 'assistants:read',
    };
    export const auth = new Auth()
      .authenticate((request) => ({ identity: request.headers.get('authorization') }))
      .on('*', ({ event, value, user }) => {
        if (event === 'threads:create_run') value.metadata = { ...value.metadata, from: user.identity };
        return rights[user.identity.split('-')[0]](event);
      });
  `);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  projects[Symbol.dispose]();
});

const as = (authorization: string) => ({ authorization });
const run = { assistant_id: 'probe', input: { action: 'user' } };
const send = (user: string, thread_id: string, method: string, params: object = {}, id?: number) =>
  command(server, thread_id, method, params, id, as(user));

it('a handler that refuses a run refuses the command, and nothing is started', async () => {
  const thread_id = randomUUID();
  const refused = { type: 'error', error: 'permission_denied' };
  expect(await send('reader', thread_id, 'run.start', run)).toMatchObject(refused);
  expect(await send('all', thread_id, 'state.get')).toMatchObject({ error: 'invalid_argument' });
  await send('all', thread_id, 'run.start', run);
  expect(await send('reader', thread_id, 'agent.getTree')).toMatchObject({ type: 'success' });
  expect(await send('writer', thread_id, 'agent.getTree')).toMatchObject(refused);
  expect(await send('writer', thread_id, 'run.stop')).toMatchObject(refused);
  expect(await send('reader', thread_id, 'run.stop')).toMatchObject({ error: 'unknown_command' });
  expect(await send('writer', thread_id, 'run.start', run)).toMatchObject({ type: 'success' });
});

it('handlers change the run that a command starts', async () => {
  const thread_id = randomUUID();
  const { result } = await send('all-day', thread_id, 'run.start', run);
  const path = `/threads/${thread_id}/runs/${String(result['run_id'])}`;
  const { body } = await server.call('GET', path, undefined, as('all'));
  expect(body).toMatchObject({ metadata: { from: 'all-day' } });
});

it('a feed needs the permission to read, and before the thread exists the one to create it', async () => {
  const thread_id = randomUUID();
  const open = (user: string) =>
    server.call('POST', `/threads/${thread_id}/stream/events`, { channels: ['values'] }, as(user));
  expect(await open('writer')).toMatchObject({ status: 403 });
  expect(await open('reader')).toMatchObject({ status: 404 });
  const early = readFeed(server.url, thread_id, isRunEnd, {}, as('all'));
  await send('all', thread_id, 'run.start', run);
  const events = await early;
  expect(await readFeed(server.url, thread_id, isRunEnd, {}, as('reader'))).toEqual(events);
});

it('a command of another caller with the same number and parameters is no repetition', async () => {
  const thread_id = randomUUID();
  const waiting = { assistant_id: 'probe', input: { action: 'wait' } };
  const [hers, his] = [
    await send('all-alice', thread_id, 'run.start', waiting, 1),
    await send('all-bob', thread_id, 'run.start', waiting, 1),
  ];
  expect(hers).toMatchObject({ type: 'success' });
  expect(his.result).not.toEqual(hers.result);
  expect((await send('all-alice', thread_id, 'run.start', waiting, 1)).result).toEqual(hers.result);
});

it('a command over a socket is authenticated and authorized like one over HTTP', async () => {
  const thread_id = randomUUID();
  const open = (user: string) => openSocket(server.url, thread_id, { headers: as(user) });
  expect(await refusal(open('writer'))).toMatchObject({ status: 403 });
  expect(await refusal(open('reader'))).toMatchObject({ status: 404 });
  const all = await open('all');
  await all.command('run.start', run);
  const reader = await open('reader');
  expect(await reader.command('run.start', run)).toMatchObject({ error: 'permission_denied' });
  expect(await reader.command('subscription.subscribe', { channels: ['values'] })).toMatchObject({
    type: 'success',
  });
  for (const { ws } of [all, reader]) ws.close();
});

it.each([401, 403])(
  'a socket ends with 4%i when its credentials are no longer accepted, and starts nothing',
  async (status) => {
    await using brief = await projects.serve(`
    let times = 2;
    export const auth = new Auth()
      .authenticate(() => {
        if (times-- > 0) return { identity: 'ann' };
        throw new HTTPException(${status}, { message: 'Your session has ended.' });
      })
      .on('*', () => true);
  `);
    const socket = await openSocket(brief.url, randomUUID());
    expect(await socket.command('state.get')).toMatchObject({ error: 'invalid_argument' });
    socket.ws.send(JSON.stringify({ id: 1, method: 'run.start', params: run }));
    expect(await socket.closed).toEqual({ code: 4_000 + status, reason: 'Your session has ended.' });
    const count = { name: 'count_runs', text: 'select count(*)::int as count from runs' };
    expect(await brief.database.query(count, [])).toEqual([{ count: 0 }]);
  },
);

it('subscriptions that are sent together get the events together, although one is authorized later', async () => {
  const slow = join(projects.dir, 'slow');
  await using other = await projects.serve(
    `
    import { existsSync, rmSync } from 'node:fs';
    export const auth = new Auth()
      .authenticate(() => ({ identity: 'ann' }))
      .on('*', async ({ event }) => {
        if (event === 'threads:read' && existsSync(${JSON.stringify(slow)})) {
          rmSync(${JSON.stringify(slow)});
          await new Promise((resolve) => setTimeout(resolve, 1_000));
        }
        return true;
      });
  `,
    { settings: { authTimeoutMs: 10_000 } },
  );
  const thread_id = randomUUID();
  const socket = await openSocket(other.url, thread_id);
  await socket.command('run.start', run);
  await readFeed(other.url, thread_id, isRunEnd);
  writeFileSync(slow, '');
  await Promise.all(
    [
      ['values', 'lifecycle'],
      ['lifecycle', 'input'],
    ].map((channels) => socket.command('subscription.subscribe', { channels })),
  );
  await socket.until(({ method }) => method === 'values');
  const events = await socket.until(isRunEnd);
  const numbers = events.map(({ seq }) => seq);
  expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
  socket.ws.close();
});

it('commands over a socket count as requests', async () => {
  const auth = `export const auth = new Auth().authenticate(() => ({ identity: 'ann' })).on('*', () => true);`;
  await using limited = await projects.serve(auth, { settings: { rateLimit: '1' } });
  const socket = await openSocket(limited.url, randomUUID());
  const answers = await Promise.all(Array.from({ length: 40 }, () => socket.command('state.get')));
  const refused = answers.filter(({ error }) => error === 'unknown_error');
  expect(refused.length).toBeGreaterThan(0);
  for (const { message } of refused) expect(message).toMatch(/^Too many requests/);
  expect(answers.some(({ error }) => error === 'invalid_argument')).toBe(true);
  socket.ws.close();
});
