// Commands and feeds are authorized like the routes of the REST API: by the same events, with the same payloads and filters.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { authProjects, type AuthProjects } from '../access/auth-projects.ts';
import type { TestServer } from '../server.ts';
import { command } from './command.ts';
import { isRunEnd, readFeed } from './feed.ts';

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
