// What one user may try against another besides naming their ids: reusing ids, continuing after access was lost, and actions that handlers
// allow in one place and not in another.
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { defaultAssistantId } from '../../src/deployment/assistants/default-assistant.ts';
import { startTestServer } from '../server.ts';
import { fixture } from '../fixture.ts';

const project = fileURLToPath(new URL('./policies/svc.json', import.meta.url));

interface Made {
  thread_id: string;
  run_id: string;
  assistant_id: string;
  cron_id: string;
}

/** Shared by all servers on the database. */
const encryptionKey = 'a'.repeat(64);
const server = fixture(() => startTestServer({ project, settings: { jobsPerWorker: '20', encryptionKey } }));

const authorization = (user: string) => ({ authorization: `Bearer ${user}` });
const as = (user: string) => async (method: string, path: string, body?: unknown) => {
  const { status, body: answer } = await server.call(method, path, body, authorization(user));
  return { status, body: answer as Partial<Made> & Record<string, unknown> };
};
/** Sends a request that must succeed, since the attack depends on it. */
const made = async (user: string, method: string, path: string, body?: unknown): Promise<Made> => {
  const answer = await as(user)(method, path, body);
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body as unknown as Made;
};

/** Reads a stream until stopped; `text` grows meanwhile. */
const listen = async (user: string, path: string) => {
  const leaving = new AbortController();
  const response = await fetch(server.url + path, { headers: authorization(user), signal: leaving.signal });
  const received = { status: response.status, text: '', isOver: false, stop: () => leaving.abort() };
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) received.text += decoder.decode(chunk, { stream: true });
  };
  read()
    .catch(() => undefined) // aborted
    .finally(() => (received.isOver = true));
  return received;
};

const wait = (note: string) => ({
  assistant_id: 'probe',
  input: { action: 'wait', note },
  stream_mode: ['custom', 'values'],
});
const statusOf = async (user: string, { thread_id, run_id }: Made) =>
  (await as(user)('GET', `/threads/${thread_id}/runs/${run_id}`)).body['status'];
const untilRunning = (user: string, run: Made) =>
  eventually(async () => expect(await statusOf(user, run)).toBe('running'));

describe('the id of a stateless run', () => {
  it('cannot be used by another user for a thread', async () => {
    const run = await made('stock.alice', 'POST', '/runs', { ...wait('canary'), stream_resumable: true });
    await untilRunning('stock.alice', run);
    const { thread_id } = run;
    const bob = as('stock.bob');
    const taken = await bob('POST', '/threads', { thread_id });
    const received = await listen('stock.bob', `/threads/${thread_id}/stream`);
    const his = await bob('POST', `/threads/${thread_id}/runs`, {
      ...wait('his'),
      if_not_exists: 'create',
      multitask_strategy: 'interrupt',
    });
    const deleted = await bob('DELETE', `/threads/${thread_id}`);
    received.stop();
    expect([taken.status, received.status, his.status, deleted.status]).toEqual([409, 404, 404, 404]);
    expect(received.text).not.toContain('canary');
    expect(await statusOf('stock.alice', run)).toBe('running');
    await made('stock.alice', 'POST', `/threads/${thread_id}/runs/${run.run_id}/cancel?wait=1`);
  });
});

describe('cancelling by disconnecting', () => {
  it.each(['stream', 'join'])('needs the permission to cancel, not only to read: %s', async (kind) => {
    const begin = async (user: string): Promise<Made> => {
      const { thread_id } = await made(user, 'POST', '/threads', {});
      const run = await made(user, 'POST', `/threads/${thread_id}/runs`, wait('a note'));
      await untilRunning(user, run);
      return run;
    };
    const leave = async ({ thread_id, run_id }: Made): Promise<void> => {
      const leaving = new AbortController();
      const url = `${server.url}/threads/${thread_id}/runs/${run_id}/${kind}?cancel_on_disconnect=1`;
      await fetch(url, { headers: authorization('open-reading.bob'), signal: leaving.signal });
      leaving.abort();
    };
    const [hers, his] = [await begin('open-reading.alice'), await begin('open-reading.bob')];
    await leave(hers);
    await leave(his);
    // The disconnect of the owner's own reader was handled before.
    await eventually(async () => expect(await statusOf('open-reading.bob', his)).toBe('interrupted'));
    expect(await statusOf('open-reading.alice', hers)).toBe('running');
    await made('open-reading.alice', 'POST', `/threads/${hers.thread_id}/runs/${hers.run_id}/cancel?wait=1`);
  });
});

describe('if_exists: do_nothing', () => {
  it('returns an existing thread to a user who may read it, not to a user who may only create', async () => {
    const { thread_id } = await made('free-create.alice', 'POST', '/threads', {
      metadata: { mark: 'canary' },
    });
    const body = { thread_id, if_exists: 'do_nothing' };
    expect(await as('free-create.bob')('POST', '/threads', body)).toMatchObject({ status: 409 });
    expect(await as('free-create.alice')('POST', '/threads', body)).toMatchObject({ status: 200 });
  });

  it('applies the same rule to assistants', async () => {
    const assistant = { graph_id: 'probe', metadata: { mark: 'canary' }, config: { configurable: { x: 1 } } };
    const { assistant_id } = await made('free-create.alice', 'POST', '/assistants', assistant);
    const body = { assistant_id, graph_id: 'probe', if_exists: 'do_nothing' };
    expect(await as('free-create.bob')('POST', '/assistants', body)).toMatchObject({ status: 409 });
    expect(await as('free-create.alice')('POST', '/assistants', body)).toMatchObject({ status: 200 });
  });
});

describe('the initial state of a thread', () => {
  it('needs the permission to update, not only to create', async () => {
    const thread = (fields: object) => ({
      metadata: { graph_id: 'probe', ...fields },
      supersteps: [{ updates: [{ values: { note: 'x' }, as_node: 'node' }] }],
    });
    const create = (fields: object) => as('no-writing.bob')('POST', '/threads', thread(fields));
    expect((await create({})).status).toBe(403);
    expect((await create({ writer: 'bob' })).status).toBe(200);
  });
});

describe('deleting a thread', () => {
  it('stops when the thread was given to another user meanwhile', async () => {
    const { thread_id } = await made('stock.bob', 'POST', '/threads', {});
    const run = { assistant_id: 'probe', input: { note: 'his' } };
    await made('stock.bob', 'POST', `/threads/${thread_id}/runs/wait`, run);
    const { database } = server;
    const statement = (name: string, text: string) => ({ name, text });
    const deleting = await database.transact(async (tx) => {
      await tx.query(statement('hold', 'select 1 from threads where thread_id = $1 for update'), [thread_id]);
      const request = as('stock.bob')('DELETE', `/threads/${thread_id}`);
      await eventually(async () => {
        const text = `select 1 from pg_stat_activity where datname = current_database()
          and wait_event_type = 'Lock' and query like '%delete_thread%'`;
        expect(await database.query(statement('held', text), [])).toHaveLength(1);
      });
      const give = `update threads set metadata = '{"owner":"alice"}' where thread_id = $1`;
      await tx.query(statement('another', give), [thread_id]);
      return { request };
    });
    expect((await deleting.request).status).toBe(404);
    expect((await as('stock.alice')('GET', `/threads/${thread_id}`)).status).toBe(200);
  });
});

describe('the stream of a thread', () => {
  /** Lets alice run on the thread: a reader who subscribed before it was hers must receive nothing of that. */
  const expectNothingReceived = async (
    received: Awaited<ReturnType<typeof listen>>,
    thread_id: string | undefined,
  ): Promise<void> => {
    const run = {
      assistant_id: 'probe',
      input: { action: 'user', note: 'canary' },
      stream_mode: ['custom', 'values'],
    };
    await made('stock.alice', 'POST', `/threads/${thread_id}/runs/wait`, run);
    await eventually(() => expect(received.isOver || received.text.includes('event:')).toBe(true));
    received.stop();
    expect(received.text).not.toContain('canary');
  };

  it('ends with its thread, also when another user creates one with the same id', async () => {
    const { thread_id } = await made('stock.bob', 'POST', '/threads', {});
    const received = await listen('stock.bob', `/threads/${thread_id}/stream`);
    expect(received.status).toBe(200);
    expect((await as('stock.bob')('DELETE', `/threads/${thread_id}`)).status).toBe(204);
    await made('stock.alice', 'POST', '/threads', { thread_id });
    await expectNothingReceived(received, thread_id);
  });

  it('continues when a run has been rolled back', async () => {
    const { thread_id } = await made('stock.bob', 'POST', '/threads', {});
    const received = await listen('stock.bob', `/threads/${thread_id}/stream`);
    const run = await made('stock.bob', 'POST', `/threads/${thread_id}/runs`, wait('the first'));
    await eventually(() => expect(received.text).toContain('the first'));
    const path = `/threads/${thread_id}/runs`;
    await made('stock.bob', 'POST', `${path}/${run.run_id}/cancel?wait=1&action=rollback`);
    await made('stock.bob', 'POST', `${path}/wait`, { ...wait('the second'), input: { note: 'the second' } });
    await eventually(() => expect(received.text).toContain('the second'));
    received.stop();
  });

  it('ends for a reader who may no longer read the thread', async () => {
    const { thread_id } = await made('stock.bob', 'POST', '/threads', {});
    const received = await listen('stock.bob', `/threads/${thread_id}/stream`);
    const give = {
      name: 'give',
      text: `update threads set metadata = metadata || '{"owner":"alice"}' where thread_id = $1`,
    };
    await server.database.query(give, [thread_id]);
    await expectNothingReceived(received, thread_id);
  });
});

describe('a default assistant', () => {
  it('is not created by a user who derived its id from the name of its graph', async () => {
    const assistant_id = defaultAssistantId('tomorrow');
    const planted = {
      assistant_id,
      graph_id: 'probe',
      name: 'mine',
      config: { configurable: { x: 'planted' } },
    };
    await made('stock.bob', 'POST', '/assistants', planted);
    const { database } = server;
    const withGraph = fileURLToPath(new URL('./policies/tomorrow.json', import.meta.url));
    await using later = await startTestServer({ project: withGraph, database, settings: { encryptionKey } });
    const find = { name: 'planted', text: 'select * from assistants where assistant_id = $1' };
    expect(await database.query(find, [assistant_id])).toMatchObject([
      { graph_id: 'tomorrow', name: 'tomorrow', config: {}, metadata: { created_by: 'system' }, version: 2 },
    ]);
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/latest'],
    ] as const) {
      const body = method === 'POST' ? { version: 1 } : undefined;
      const url = `/assistants/${assistant_id}${path}`;
      expect((await later.call(method, url, body, authorization('stock.bob'))).status).toBe(404);
    }
  });
});

describe('a change of a cron', () => {
  const cron = { assistant_id: 'probe', schedule: '0 0 1 1 *', input: { action: 'user' } };

  it('creates no runs that the user could not create', async () => {
    const { cron_id } = await made('free-crons.bob', 'POST', '/runs/crons', cron);
    const forbidden = { input: { action: 'forbidden' } };
    const response = await as('free-crons.bob')('POST', '/runs/crons', { ...cron, ...forbidden });
    expect(response.status).toBe(403);
    expect((await as('free-crons.bob')('PATCH', `/runs/crons/${cron_id}`, forbidden)).status).toBe(403);
    expect((await as('free-crons.bob')('GET', `/runs/crons/${cron_id}`)).body['payload']).toMatchObject({
      input: { action: 'user' },
    });
  });

  it('creates no thread among those of another user', async () => {
    const { cron_id } = await made('free-crons.bob', 'POST', '/runs/crons', {
      ...cron,
      on_run_completed: 'keep',
    });
    const answer = await as('free-crons.bob')('PATCH', `/runs/crons/${cron_id}`, {
      metadata: { owner: 'alice' },
    });
    const due = { name: 'due_now', text: 'update crons set next_run_date = now() where cron_id = $1' };
    await server.database.query(due, [cron_id]);
    await eventually(async () => {
      const ticks = { name: 'ticks', text: 'select 1 from cron_ticks where cron_id = $1' };
      expect(await server.database.query(ticks, [cron_id])).toHaveLength(1);
    });
    const planted = await as('free-crons.alice')('POST', '/threads/search', { metadata: { cron_id } });
    expect(planted.body).toEqual([]);
    expect(answer.status).toBeLessThan(500);
    await as('free-crons.bob')('DELETE', `/runs/crons/${cron_id}`);
  });
});

describe("the assistant named in a thread's metadata", () => {
  it('is not used for another user, whatever its own metadata contains', async () => {
    const { assistant_id } = await made('stock.alice', 'POST', '/assistants', {
      graph_id: 'branching',
      metadata: { created_by: 'system' },
      config: { configurable: { canary: 'canary' } },
    });
    const nextOf = async (user: string) => {
      const metadata = { graph_id: 'branching', assistant_id };
      const { thread_id } = await made(user, 'POST', '/threads', { metadata });
      await made(user, 'POST', `/threads/${thread_id}/state`, { values: { note: 'x' }, as_node: 'node' });
      return (await as(user)('GET', `/threads/${thread_id}/state`)).body['next'];
    };
    expect(await nextOf('stock.alice')).toEqual(['configured']);
    expect(await nextOf('stock.bob')).toEqual([]);
  });

  it.each(['not an id', randomUUID(), '__proto__'])(
    'does not make requests fail when invalid: %s',
    async (assistant_id) => {
      const metadata = { graph_id: 'probe', assistant_id };
      const { thread_id } = await made('stock.bob', 'POST', '/threads', { metadata });
      const answer = await as('stock.bob')('POST', `/threads/${thread_id}/state`, {
        values: { note: 'x' },
        as_node: 'node',
      });
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    },
  );
});
