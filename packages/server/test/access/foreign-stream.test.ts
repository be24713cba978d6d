// The events of a run of another user.
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../server.ts';
import { authProjects, ownersOnly, stockAuth } from './auth-projects.ts';

const projects = authProjects();
afterAll(() => projects[Symbol.dispose]());

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

/** What joins of a run of Ann receive: by Ben, and by Ann with the id of a run that does not exist. */
const joins = async (server: TestServer) => {
  const call = (user: string, method: string, path: string, body?: unknown) =>
    server.call(method, path, body, { 'x-user': user });
  const { thread_id } = (await call('ann', 'POST', '/threads', {})).body as { thread_id: string };
  const run = { assistant_id: 'probe', input: { action: 'user' } };
  const { run_id } = (await call('ann', 'POST', `/threads/${thread_id}/runs`, run)).body as {
    run_id: string;
  };
  await call('ann', 'GET', `/threads/${thread_id}/runs/${run_id}/join`);
  return Promise.all([
    call('ben', 'GET', `/threads/${thread_id}/runs/${run_id}/stream`),
    call('ann', 'GET', `/threads/${thread_id}/runs/${thread_id}/stream`),
    call('ben', 'GET', `/threads/${thread_id}/runs/${thread_id}/stream`),
  ]);
};

it('is not found', async () => {
  await using server = await startTestServer({ project: project(false) });
  expect((await joins(server)).map(({ status }) => status)).toEqual([404, 404, 404]);
});

it('is one error event with a file of the stock server', async () => {
  await using server = await startTestServer({ project: project(true) });
  const responses = await joins(server);
  const thread = 'event: error\ndata: {"error":"Error","message":"404: Thread not found"}';
  expect(responses.map(({ status, body }) => [status, String(body).trim()])).toEqual([
    [200, thread],
    [200, thread.replace('Thread', 'Run')],
    [200, thread],
  ]);
});
