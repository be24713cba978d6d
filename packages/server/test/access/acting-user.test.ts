// The user of a run: what its graph sees of the user, through queues, crashes and schedules, and where user secrets must not appear.
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { databaseText } from './database-text.ts';

const project = fileURLToPath(new URL('./project/svc.json', import.meta.url));

let server: TestServer;
/** Of this process, which the server and its executors inherit. */
const environment = {
  SVC_STUDIO_KEY: 'studio-key-canary',
  DATABASE_URI: 'postgresql://u:canary@h/d',
  SEEN_BY_GRAPHS: 'seen',
};
beforeAll(async () => {
  Object.assign(process.env, environment);
  server = await startTestServer({ project });
});
afterAll(async () => {
  for (const name of Object.keys(environment)) delete process.env[name];
  await server[Symbol.asyncDispose]();
});

const authorization = (user: string) => ({ authorization: `Bearer ${user}` });
const call = (user: string, method: string, path: string, body?: unknown) =>
  server.call(method, path, body, authorization(user));
const secret = 'secret-of-alice';

const alice = {
  identity: 'alice',
  display_name: 'alice',
  is_authenticated: true,
  permissions: ['chat'],
  token: secret,
};
const keys = { svc_auth_user: alice, svc_auth_user_id: 'alice', svc_auth_permissions: ['chat'] };

const count = async (table: string): Promise<number> => {
  const statement = { name: `count_${table}`, text: `select count(*)::int as count from ${table}` };
  return (await server.database.query<{ count: number }>(statement, []))[0]?.count ?? -1;
};

// Must run first: later tests let graphs return what they see of their user.
describe('the secrets of a user', () => {
  it('are in no row and no response, and are deleted when the run has ended', async () => {
    const before = await count('run_users');
    const { thread_id } = (await call('alice', 'POST', '/threads', {})).body as { thread_id: string };
    const wait = {
      assistant_id: 'probe',
      input: { action: 'wait' },
      stream_resumable: true,
      stream_mode: ['debug', 'events', 'messages', 'values'],
    };
    const { run_id } = (await call('alice', 'POST', `/threads/${thread_id}/runs`, wait)).body as {
      run_id: string;
    };
    await eventually(async () => {
      expect((await call('alice', 'GET', `/threads/${thread_id}/runs/${run_id}`)).body).toMatchObject({
        status: 'running',
      });
    });
    expect(await count('run_users')).toBe(before + 1);
    const during = await databaseText(server.database);
    expect(during).toContain(run_id);
    expect(during).not.toContain(secret);
    await call('alice', 'POST', `/threads/${thread_id}/runs/${run_id}/cancel?wait=1`);
    expect(await count('run_users')).toBe(before);

    // All rows, events and responses of a run whose graph does not return its user.
    const client = new Client({ apiUrl: server.url, defaultHeaders: authorization('alice') });
    const events = [];
    const stream = client.runs.stream(thread_id, 'probe', {
      input: { action: 'approve', note: 'n' },
      streamMode: ['values', 'updates', 'debug', 'tasks', 'checkpoints', 'events', 'custom'],
      streamResumable: true,
    });
    for await (const event of stream) events.push(event);
    expect(events.length).toBeGreaterThan(5);
    const paths = ['', '/state', '/history', '/runs'].map((path) => `/threads/${thread_id}${path}`);
    const answers = await Promise.all(paths.map((path) => call('alice', 'GET', path)));
    expect(JSON.stringify([events, answers])).not.toContain(secret);
    expect(await databaseText(server.database)).not.toContain(secret);
  });
});

describe('a graph', () => {
  it('sees the whole user, and a client cannot set that user', async () => {
    const forged = {
      svc_auth_user: { identity: 'bob' },
      svc_auth_user_id: 'bob',
      svc_auth_permissions: ['everything'],
      langgraph_auth_user: { identity: 'bob' },
      langgraph_auth_user_id: 'bob',
    };
    const assistant = { graph_id: 'probe', config: { configurable: forged }, metadata: {} };
    const { assistant_id } = (await call('alice', 'POST', '/assistants', assistant)).body as {
      assistant_id: string;
    };
    const run = {
      assistant_id,
      input: { action: 'user' },
      config: { configurable: forged },
      context: forged,
    };
    const { body } = await call('alice', 'POST', '/runs/wait', run);
    expect((body as { answer: unknown }).answer).toEqual(keys);
  });

  it('sees the same user when its run waits in the queue, and when it restarts after a crash', async () => {
    const { thread_id } = (await call('alice', 'POST', '/threads', {})).body as { thread_id: string };
    const later = { assistant_id: 'probe', input: { action: 'user' }, after_seconds: 0.2 };
    const queued = (await call('alice', 'POST', `/threads/${thread_id}/runs`, later)).body as {
      run_id: string;
    };
    const joined = await call('alice', 'GET', `/threads/${thread_id}/runs/${queued.run_id}/join`);
    expect(joined.body).toMatchObject({ answer: keys });
    const crash = { assistant_id: 'probe', input: { action: 'crash' } };
    const again = await call('alice', 'POST', `/threads/${thread_id}/runs/wait`, crash);
    expect(again.body).toMatchObject({ answer: 'alice' });
  });

  it("sees the user who created the cron, and that user owns the cron's threads", async () => {
    const cron = {
      assistant_id: 'probe',
      schedule: '0 0 1 1 *',
      on_run_completed: 'keep',
      input: { action: 'user' },
    };
    const made = await call('alice', 'POST', '/runs/crons', cron);
    expect(made).toMatchObject({ status: 200, body: { user_id: 'alice', metadata: { owner: 'alice' } } });
    const { cron_id } = made.body as { cron_id: string };
    const due = { name: 'due_now', text: `update crons set next_run_date = now() where cron_id = $1` };
    await server.database.query(due, [cron_id]);
    await eventually(async () => {
      const found = await call('alice', 'POST', '/threads/search', {
        metadata: { cron_id },
        select: ['values', 'metadata', 'status'],
      });
      expect(found.body).toMatchObject([
        {
          status: 'idle',
          values: { answer: keys },
          metadata: { owner: 'alice', svc_auth_user_id: 'alice' },
        },
      ]);
    });
    const others = await call('bob', 'POST', '/threads/search', { metadata: { cron_id } });
    expect(others.body).toEqual([]);
    await call('alice', 'DELETE', `/runs/crons/${cron_id}`);
  });

  it('whose user cannot be decrypted does not run', async () => {
    const run = { assistant_id: 'probe', input: { action: 'user' }, after_seconds: 3_600 };
    const { thread_id } = (await call('alice', 'POST', '/threads', {})).body as { thread_id: string };
    const { run_id } = (await call('alice', 'POST', `/threads/${thread_id}/runs`, run)).body as {
      run_id: string;
    };
    // Encrypted for another user, as if a row had been moved.
    const moved = {
      name: 'move_user',
      text: `update runs set metadata = '{"svc_auth_user_id":"bob"}', not_before = now() where run_id = $1`,
    };
    await server.database.query(moved, [run_id]);
    const { body } = await call('alice', 'GET', `/threads/${thread_id}/runs/${run_id}/join`);
    expect(body).toMatchObject({ __error__: { error: 'UserUnreadable' } });
  });
});

describe('the owner of an object', () => {
  const made: [string, object][] = [
    ['/threads', { metadata: { svc_auth_user_id: 'bob' } }],
    ['/assistants', { graph_id: 'probe', metadata: { svc_auth_user_id: 'bob' } }],
    ['/runs', { assistant_id: 'probe', metadata: { svc_auth_user_id: 'bob' } }],
    ['/runs/wait', { assistant_id: 'probe', metadata: { svc_auth_user_id: 'bob' } }],
    ['/runs/crons', { assistant_id: 'probe', schedule: '0 0 1 1 *', metadata: { svc_auth_user_id: 'bob' } }],
  ];
  it.each(made)('cannot be set by a client: POST %s', async (path, body) => {
    const answer = await call('alice', 'POST', path, body);
    expect(answer.status).toBe(422);
    expect(JSON.stringify(answer.body)).toContain('set by the server');
  });

  it('does not change on an update', async () => {
    const { thread_id } = (await call('alice', 'POST', '/threads', {})).body as { thread_id: string };
    const forged = { metadata: { svc_auth_user_id: 'bob' } };
    expect((await call('alice', 'PATCH', `/threads/${thread_id}`, forged)).status).toBe(422);
    const back = { metadata: { svc_auth_user_id: 'alice', x: 1 } };
    expect(await call('alice', 'PATCH', `/threads/${thread_id}`, back)).toMatchObject({
      status: 200,
      body: { metadata: { svc_auth_user_id: 'alice', owner: 'alice', x: 1 } },
    });
    const found = await call('alice', 'POST', '/threads/search', { metadata: { svc_auth_user_id: 'alice' } });
    expect((found.body as object[]).length).toBeGreaterThan(0);
  });
});

describe('the key names of LangGraph Platform', () => {
  it('are present beside those of svc for a project with a langgraph.json', async () => {
    const { cpSync, mkdtempSync, renameSync, rmSync } = await import('node:fs');
    const dir = mkdtempSync(fileURLToPath(new URL('./tmp-compat-', import.meta.url)));
    try {
      cpSync(fileURLToPath(new URL('./project', import.meta.url)), dir, { recursive: true });
      renameSync(`${dir}/svc.json`, `${dir}/langgraph.json`);
      await using compat = await startTestServer({ project: `${dir}/langgraph.json` });
      const run = { assistant_id: 'probe', input: { action: 'user' } };
      const { body } = await compat.call('POST', '/runs/wait', run, authorization('alice'));
      expect((body as { answer: unknown }).answer).toEqual({
        ...keys,
        langgraph_auth_user: alice,
        langgraph_auth_user_id: 'alice',
        langgraph_auth_permissions: ['chat'],
      });
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});

it('give a stock client with a credential its own threads', async () => {
  const clientOf = (user: string) => new Client({ apiUrl: server.url, defaultHeaders: authorization(user) });
  const [hers, his] = [clientOf('alice'), clientOf('bob')];
  const thread = await hers.threads.create({ metadata: { topic: 'x' } });
  const values = await hers.runs.wait(thread.thread_id, 'chat', {
    input: { messages: [{ role: 'user', content: 'hi' }] },
  });
  expect(JSON.stringify(values)).toContain('echo hi');
  await expect(his.threads.get(thread.thread_id)).rejects.toThrow(/404/);
  await expect(his.runs.wait(thread.thread_id, 'chat', { input: null })).rejects.toThrow(/404/);
  expect((await hers.threads.search({ ids: [thread.thread_id] })).length).toBe(1);
  expect(await his.threads.search({ ids: [thread.thread_id] })).toEqual([]);
  await expect(new Client({ apiUrl: server.url }).threads.create()).rejects.toThrow(/401/);
  const copy = await hers.threads.copy(thread.thread_id);
  expect(copy).toMatchObject({ metadata: { owner: 'alice' } });
  const made = await hers.threads.create({ threadId: randomUUID(), ifExists: 'do_nothing' });
  await hers.threads.delete(made.thread_id);
});

it("nodes with different encryption keys do not share a database, since they cannot decrypt each other's users", async () => {
  const other = { encryptionKey: 'b'.repeat(64) };
  await expect(startTestServer({ project, database: server.database, settings: other })).rejects.toThrow(
    /encrypted with key \w+, but this server has key \w+/,
  );
});

it('a graph sees the environment without the secrets of the server', async () => {
  const run = { assistant_id: 'probe', input: { action: 'environment' } };
  const { body } = await call('alice', 'POST', '/runs/wait', run);
  const { answer } = body as { answer: Record<string, string> };
  expect(answer['SEEN_BY_GRAPHS']).toBe('seen');
  expect(JSON.stringify(answer)).not.toContain('canary');
});
