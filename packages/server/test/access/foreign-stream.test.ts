// The events of a run of another user.
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../server.ts';
import { authProjects, ownersOnly, stockAuth } from './auth-projects.ts';
import { fixture } from '../fixture.ts';

const projects = fixture(() => authProjects());

const project = (compat: boolean): string => {
  const file = projects.write(
    { path: './auth.ts:auth' },
    {
      'auth.ts': stockAuth + ownersOnly,
    },
  );
  if (compat) {
    const config = JSON.parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(file, JSON.stringify({ ...config, compat: 'langgraph' }));
  }
  return file;
};

const call = (server: TestServer, user: string, method: string, path: string, body?: unknown) =>
  server.call(method, path, body, { 'x-user': user });

let server: TestServer;
let stock: TestServer;
let ids: { thread_id: string; run_id: string };
beforeAll(async () => {
  const settings = { encryptionKey: 'ab'.repeat(32) };
  server = await startTestServer({ project: project(false), settings });
  const { database } = server;
  stock = await startTestServer({ project: project(true), settings, database, executors: 'none' });
  const made = await call(server, 'ann', 'POST', '/threads', {});
  const { thread_id } = made.body as { thread_id: string };
  const run = { assistant_id: 'probe', input: { action: 'user' } };
  const started = await call(server, 'ann', 'POST', `/threads/${thread_id}/runs`, run);
  ids = started.body as { thread_id: string; run_id: string };
  await call(server, 'ann', 'GET', `/threads/${thread_id}/runs/${ids.run_id}/join`);
});
afterAll(async () => {
  await stock[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

/** What joins of a run of Ann receive: by Ben, and by Ann with the id of a run that does not exist. */
const joins = (at: TestServer) => {
  const { thread_id, run_id } = ids;
  return Promise.all([
    call(at, 'ben', 'GET', `/threads/${thread_id}/runs/${run_id}/stream`),
    call(at, 'ann', 'GET', `/threads/${thread_id}/runs/${thread_id}/stream`),
    call(at, 'ben', 'GET', `/threads/${thread_id}/runs/${thread_id}/stream`),
  ]);
};

it('is not found', async () => {
  expect((await joins(server)).map(({ status }) => status)).toEqual([404, 404, 404]);
});

it('is one error event with a file of the stock server', async () => {
  const responses = await joins(stock);
  const thread = 'event: error\ndata: {"error":"Error","message":"404: Thread not found"}';
  expect(responses.map(({ status, body }) => [status, String(body).trim()])).toEqual([
    [200, thread],
    [200, thread.replace('Thread', 'Run')],
    [200, thread],
  ]);
});
