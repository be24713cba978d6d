// Shared objects: assistants that all users may use, crons that all users may change.
import { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestServer } from '../server.ts';
import { authProjects, ownersOnly } from './auth-projects.ts';
import { fixture } from '../fixture.ts';

const projects = fixture(() => authProjects());

describe('users who see what they own', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await projects.serve(ownersOnly);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it('the deletion of an assistant with its threads deletes only threads of the caller', async () => {
    const call = (user: string, method: string, path: string, body?: unknown) =>
      server.call(method, path, body, { 'x-user': user });
    const made = await call('bob', 'POST', '/assistants', { graph_id: 'probe' });
    const { assistant_id } = made.body as { assistant_id: string };
    const threadOf = async (user: string): Promise<string> => {
      const { thread_id } = (await call(user, 'POST', '/threads', {})).body as { thread_id: string };
      const run = { assistant_id, input: { action: 'user' } };
      expect((await call(user, 'POST', `/threads/${thread_id}/runs/wait`, run)).status).toBe(200);
      return thread_id;
    };
    const [hers, his] = [await threadOf('alice'), await threadOf('bob')];
    expect((await call('bob', 'DELETE', `/assistants/${assistant_id}?delete_threads=true`)).status).toBe(204);
    expect((await call('alice', 'GET', `/threads/${hers}`)).status).toBe(200);
    expect((await call('bob', 'GET', `/threads/${his}`)).status).toBe(404);
  });

  it('the metadata of a state is changed only by a user who may update the thread', async () => {
    const clientOf = (user: string) =>
      new Client({
        apiUrl: server.url,
        apiKey: null,
        defaultHeaders: { 'x-user': user },
        callerOptions: { maxRetries: 0 },
      });
    const [alice, bob] = [clientOf('alice'), clientOf('bob')];
    const { thread_id } = await alice.threads.create();
    await alice.runs.wait(thread_id, 'probe', { input: { action: 'user' } });
    await expect(bob.threads.patchState(thread_id, { reviewed: 'bob' } as never)).rejects.toMatchObject({
      status: 404,
    });
    await alice.threads.patchState(thread_id, { reviewed: 'alice' } as never);
    expect((await alice.threads.getState(thread_id)).metadata).toMatchObject({ reviewed: 'alice' });
  });
});

describe('users who see everything', () => {
  let server: TestServer;
  beforeAll(async () => {
    const code = `export const auth = new Auth()
      .authenticate((request) => request.headers.get('x-user') ?? 'anonymous').on('*', () => true);`;
    server = await projects.serve(code, { executors: 'none' });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it('a cron that other users may change keeps running as its owner configured it', async () => {
    const call = (user: string, method: string, path: string, body: unknown) =>
      server.call(method, path, body, { 'x-user': user });
    const cron = { assistant_id: 'probe', schedule: '0 0 1 1 *', input: { action: 'user' } };
    const { cron_id } = (await call('ann', 'POST', '/runs/crons', cron)).body as { cron_id: string };
    const path = `/runs/crons/${cron_id}`;
    expect((await call('ben', 'PATCH', path, { input: { action: 'approve' } })).status).toBe(403);
    expect((await call('ben', 'PATCH', path, { enabled: false, metadata: { why: 'holidays' } })).status).toBe(
      200,
    );
    expect((await call('ann', 'PATCH', path, { input: { action: 'approve' } })).body).toMatchObject({
      payload: { input: { action: 'approve' } },
      enabled: false,
      metadata: { why: 'holidays', svc_auth_user_id: 'ann' },
    });
  });

  it('one user cannot use up the crons of all users', async () => {
    const cron = { assistant_id: 'probe', schedule: '0 0 1 1 *' };
    const made = await server.call('POST', '/runs/crons', cron, { 'x-user': 'ann' });
    await server.database.query(
      {
        name: 'many_crons',
        text: `insert into crons (cron_id, assistant_id, schedule, payload, metadata)
        select gen_random_uuid(), c.assistant_id, c.schedule, c.payload, c.metadata
        from crons c, generate_series(1, 999) where c.cron_id = $1`,
      },
      [(made.body as { cron_id: string }).cron_id],
    );
    const more = await server.call('POST', '/runs/crons', cron, { 'x-user': 'ann' });
    expect(more).toMatchObject({ status: 409 });
    expect((await server.call('POST', '/runs/crons', cron, { 'x-user': 'ben' })).status).toBe(200);
  });
});

it('a handler that rejects an assistant rejects its runs', async () => {
  await using server = await projects.serve(
    `export const auth = new Auth()
    .authenticate(() => 'ann').on('*', () => true).on('assistants:read', () => false);`,
    { executors: 'none' },
  );
  const run = { assistant_id: 'probe', input: { action: 'user' } };
  expect((await server.call('POST', '/runs/wait', run)).status).toBe(403);
  expect((await server.call('POST', '/runs/crons', { ...run, schedule: '0 0 1 1 *' })).status).toBe(403);
});

it('a handler gets metadata to write to, whether the client sent some or not', async () => {
  await using server = await projects.serve(
    `export const auth = new Auth()
    .authenticate(() => 'ann').on('threads', ({ value, user }) => {
      if ('metadata' in value) value.metadata.owner = user.identity;
      return { owner: user.identity };
    });`,
    { executors: 'none' },
  );
  const made = await server.call('POST', '/threads', {});
  expect(made).toMatchObject({ status: 200, body: { metadata: { owner: 'ann' } } });
});
