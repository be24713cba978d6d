// What one user may try against another, beyond naming ids of theirs: taking ids over, going on after access was lost,
// and what handlers let through at one place that they do not at another.
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { defaultAssistantId } from '../../src/deployment/assistants/default-assistant.ts';
import { startTestServer, type TestServer } from '../server.ts';

const project = fileURLToPath(new URL('./policies/svc.json', import.meta.url));

interface Made {
  thread_id: string;
  run_id: string;
  assistant_id: string;
  cron_id: string;
}

/** Of all servers on the database. */
const encryptionKey = 'a'.repeat(64);
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ project, settings: { jobsPerWorker: '20', encryptionKey } });
});
afterAll(() => server[Symbol.asyncDispose]());

const authorization = (who: string) => ({ authorization: `Bearer ${who}` });
const as = (who: string) => async (method: string, path: string, body?: unknown) => {
  const { status, body: answer } = await server.call(method, path, body, authorization(who));
  return { status, body: answer as Partial<Made> & Record<string, unknown> };
};
/** What must work, for an attack to mean anything. */
const made = async (who: string, method: string, path: string, body?: unknown): Promise<Made> => {
  const answer = await as(who)(method, path, body);
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body as unknown as Made;
};

/** Reads a stream until told to stop; `text` grows meanwhile. */
const listen = async (who: string, path: string) => {
  const gone = new AbortController();
  const response = await fetch(server.url + path, { headers: authorization(who), signal: gone.signal });
  const heard = { status: response.status, text: '', isOver: false, stop: () => gone.abort() };
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) heard.text += decoder.decode(chunk, { stream: true });
  };
  read()
    .catch(() => undefined) // aborted
    .finally(() => (heard.isOver = true));
  return heard;
};

const wait = (note: string) => ({
  assistant_id: 'probe',
  input: { ask: 'wait', note },
  stream_mode: ['custom', 'values'],
});
const statusOf = async (who: string, { thread_id, run_id }: Made) =>
  (await as(who)('GET', `/threads/${thread_id}/runs/${run_id}`)).body['status'];
const untilRunning = (who: string, run: Made) =>
  eventually(async () => expect(await statusOf(who, run)).toBe('running'));

describe('the id of a run without a thread', () => {
  it('is no id under which another user gets a thread', async () => {
    const run = await made('stock.alice', 'POST', '/runs', { ...wait('canary'), stream_resumable: true });
    await untilRunning('stock.alice', run);
    const { thread_id } = run;
    const bob = as('stock.bob');
    const taken = await bob('POST', '/threads', { thread_id });
    const heard = await listen('stock.bob', `/threads/${thread_id}/stream`);
    const his = await bob('POST', `/threads/${thread_id}/runs`, {
      ...wait('his'),
      if_not_exists: 'create',
      multitask_strategy: 'interrupt',
    });
    const gone = await bob('DELETE', `/threads/${thread_id}`);
    heard.stop();
    expect([taken.status, heard.status, his.status, gone.status]).toEqual([409, 404, 404, 404]);
    expect(heard.text).not.toContain('canary');
    expect(await statusOf('stock.alice', run)).toBe('running');
    await made('stock.alice', 'POST', `/threads/${thread_id}/runs/${run.run_id}/cancel?wait=1`);
  });
});

describe('cancelling by leaving', () => {
  it.each(['stream', 'join'])('takes the right to cancel, not only to read: %s', async (kind) => {
    const begin = async (who: string): Promise<Made> => {
      const { thread_id } = await made(who, 'POST', '/threads', {});
      const run = await made(who, 'POST', `/threads/${thread_id}/runs`, wait('a note'));
      await untilRunning(who, run);
      return run;
    };
    const leave = async ({ thread_id, run_id }: Made): Promise<void> => {
      const gone = new AbortController();
      const url = `${server.url}/threads/${thread_id}/runs/${run_id}/${kind}?cancel_on_disconnect=1`;
      await fetch(url, { headers: authorization('open-reading.bob'), signal: gone.signal });
      gone.abort();
    };
    const [hers, his] = [await begin('open-reading.alice'), await begin('open-reading.bob')];
    await leave(hers);
    await leave(his);
    // Whoever left hers was noticed before.
    await eventually(async () => expect(await statusOf('open-reading.bob', his)).toBe('interrupted'));
    expect(await statusOf('open-reading.alice', hers)).toBe('running');
    await made('open-reading.alice', 'POST', `/threads/${hers.thread_id}/runs/${hers.run_id}/cancel?wait=1`);
  });
});

describe('if_exists: do_nothing', () => {
  it('shows what is there to who may read it, not to who may create', async () => {
    const { thread_id } = await made('free-create.alice', 'POST', '/threads', {
      metadata: { mark: 'canary' },
    });
    const body = { thread_id, if_exists: 'do_nothing' };
    expect(await as('free-create.bob')('POST', '/threads', body)).toMatchObject({ status: 409 });
    expect(await as('free-create.alice')('POST', '/threads', body)).toMatchObject({ status: 200 });
  });

  it('does so for assistants too', async () => {
    const assistant = { graph_id: 'probe', metadata: { mark: 'canary' }, config: { configurable: { x: 1 } } };
    const { assistant_id } = await made('free-create.alice', 'POST', '/assistants', assistant);
    const body = { assistant_id, graph_id: 'probe', if_exists: 'do_nothing' };
    expect(await as('free-create.bob')('POST', '/assistants', body)).toMatchObject({ status: 409 });
    expect(await as('free-create.alice')('POST', '/assistants', body)).toMatchObject({ status: 200 });
  });
});

describe('a state that a thread begins with', () => {
  it('is written by who may write it, not by who may create', async () => {
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
  it('stops at one that has become another user’s meanwhile', async () => {
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
  /** Alice runs on the thread: who listened to it before it was hers hears nothing of that. */
  const expectNothingHeard = async (
    heard: Awaited<ReturnType<typeof listen>>,
    thread_id: string | undefined,
  ): Promise<void> => {
    const run = {
      assistant_id: 'probe',
      input: { ask: 'who', note: 'canary' },
      stream_mode: ['custom', 'values'],
    };
    await made('stock.alice', 'POST', `/threads/${thread_id}/runs/wait`, run);
    await eventually(() => expect(heard.isOver || heard.text.includes('event:')).toBe(true));
    heard.stop();
    expect(heard.text).not.toContain('canary');
  };

  it('ends with the thread, also when another user makes one of the same id', async () => {
    const { thread_id } = await made('stock.bob', 'POST', '/threads', {});
    const heard = await listen('stock.bob', `/threads/${thread_id}/stream`);
    expect(heard.status).toBe(200);
    expect((await as('stock.bob')('DELETE', `/threads/${thread_id}`)).status).toBe(204);
    await made('stock.alice', 'POST', '/threads', { thread_id });
    await expectNothingHeard(heard, thread_id);
  });

  it('goes on when a run has been rolled back', async () => {
    const { thread_id } = await made('stock.bob', 'POST', '/threads', {});
    const heard = await listen('stock.bob', `/threads/${thread_id}/stream`);
    const run = await made('stock.bob', 'POST', `/threads/${thread_id}/runs`, wait('the first'));
    await eventually(() => expect(heard.text).toContain('the first'));
    const path = `/threads/${thread_id}/runs`;
    await made('stock.bob', 'POST', `${path}/${run.run_id}/cancel?wait=1&action=rollback`);
    await made('stock.bob', 'POST', `${path}/wait`, { ...wait('the second'), input: { note: 'the second' } });
    await eventually(() => expect(heard.text).toContain('the second'));
    heard.stop();
  });

  it('ends for who may not read the thread any more', async () => {
    const { thread_id } = await made('stock.bob', 'POST', '/threads', {});
    const heard = await listen('stock.bob', `/threads/${thread_id}/stream`);
    const give = {
      name: 'give',
      text: `update threads set metadata = metadata || '{"owner":"alice"}' where thread_id = $1`,
    };
    await server.database.query(give, [thread_id]);
    await expectNothingHeard(heard, thread_id);
  });
});

describe('a default assistant', () => {
  it('is not made by who knew the name of its graph beforehand', async () => {
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
  const cron = { assistant_id: 'probe', schedule: '0 0 1 1 *', input: { ask: 'who' } };

  it('makes no runs that could not be made', async () => {
    const { cron_id } = await made('free-crons.bob', 'POST', '/runs/crons', cron);
    const forbidden = { input: { ask: 'forbidden' } };
    const asked = await as('free-crons.bob')('POST', '/runs/crons', { ...cron, ...forbidden });
    expect(asked.status).toBe(403);
    expect((await as('free-crons.bob')('PATCH', `/runs/crons/${cron_id}`, forbidden)).status).toBe(403);
    expect((await as('free-crons.bob')('GET', `/runs/crons/${cron_id}`)).body['payload']).toMatchObject({
      input: { ask: 'who' },
    });
  });

  it('plants no thread among those of another user', async () => {
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

describe('what a thread says of its graph', () => {
  it('lends nobody the assistant of another user, whatever that says of itself', async () => {
    const { assistant_id } = await made('stock.alice', 'POST', '/assistants', {
      graph_id: 'branching',
      metadata: { created_by: 'system' },
      config: { configurable: { canary: 'canary' } },
    });
    const nextOf = async (who: string) => {
      const metadata = { graph_id: 'branching', assistant_id };
      const { thread_id } = await made(who, 'POST', '/threads', { metadata });
      await made(who, 'POST', `/threads/${thread_id}/state`, { values: { note: 'x' }, as_node: 'node' });
      return (await as(who)('GET', `/threads/${thread_id}/state`)).body['next'];
    };
    expect(await nextOf('stock.alice')).toEqual(['configured']);
    expect(await nextOf('stock.bob')).toEqual([]);
  });

  it.each(['not an id', randomUUID(), '__proto__'])('is no reason to fail: %s', async (assistant_id) => {
    const metadata = { graph_id: 'probe', assistant_id };
    const { thread_id } = await made('stock.bob', 'POST', '/threads', { metadata });
    const answer = await as('stock.bob')('POST', `/threads/${thread_id}/state`, {
      values: { note: 'x' },
      as_node: 'node',
    });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  });
});
