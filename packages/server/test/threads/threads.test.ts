// GET /threads/{id}/storage: how many bytes a thread occupies.
import { randomUUID } from 'node:crypto';
import { MemorySaver, type StateSnapshot } from '@langchain/langgraph';
import { Client, type ThreadState } from '@langchain/langgraph-sdk';
import { createClient } from '@svc/sdk';
import { describe, expect, it } from 'vitest';
import { threadStorage } from '../../src/storage/deployment/threads/threads.ts';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import { withCheckpointer } from '../engine-copy.ts';
import { eventually } from '../eventually.ts';
import { fixture } from '../fixture.ts';
import { nested } from '../graphs/nested.ts';
import { lockWaiters } from '../lock-waiters.ts';
import { startTestServer, type TestServer } from '../server.ts';

/** `cancelGraceMs`: an executor that does not stop is killed soon. */
const server = fixture(() => startTestServer({ settings: { cancelGraceMs: 300 } }));
const client = fixture(() => createClient({ apiUrl: server.url }));

const say = (thread_id: string, content: string) =>
  client.runs.wait(thread_id, 'chat', { input: { messages: [{ role: 'user', content }] } });

describe('the storage report of a thread', () => {
  it('is empty for a thread without a state', async () => {
    const { thread_id } = await client.threads.create();
    expect(await client.threads.getStorage(thread_id)).toEqual({
      thread_id,
      total_bytes: 0,
      checkpoints: { count: 0, bytes: 0 },
      channel_values: { count: 0, bytes: 0, by_channel: {} },
      pending_writes: { count: 0, bytes: 0 },
    });
  });

  it('counts a value once, however many checkpoints contain it', async () => {
    const { thread_id } = await client.threads.create();
    await say(thread_id, 'x'.repeat(100_000));
    const first = await client.threads.getStorage(thread_id);
    const messages = first.channel_values.by_channel['messages'];
    expect(messages?.bytes).toBeGreaterThan(100_000);
    expect(messages?.bytes).toBeLessThan(250_000);
    expect(first.channel_values.bytes).toBeGreaterThanOrEqual(messages?.bytes ?? 0);
    await say(thread_id, 'short');
    const second = await client.threads.getStorage(thread_id);
    expect(second.checkpoints.count).toBeGreaterThan(first.checkpoints.count);
    expect(second.channel_values.by_channel['messages']?.versions).toBeGreaterThan(messages?.versions ?? 0);
    expect(second.channel_values.by_channel['messages']?.bytes).toBeLessThan((messages?.bytes ?? 0) + 20_000);
    const { checkpoints, channel_values, pending_writes, total_bytes } = second;
    expect(checkpoints.count).toBe((await client.threads.getHistory(thread_id, { limit: 100 })).length);
    expect(total_bytes).toBe(checkpoints.bytes + channel_values.bytes + pending_writes.bytes);
  });

  it('counts what a copy shares with its source', async () => {
    const { thread_id } = await client.threads.create();
    await say(thread_id, 'x'.repeat(10_000));
    const copy = await client.threads.copy(thread_id);
    const [own, copied] = await Promise.all(
      [thread_id, copy.thread_id].map((id) => client.threads.getStorage(id)),
    );
    expect(copied?.channel_values).toEqual(own?.channel_values);
  });

  it('does not exist for an unknown thread', async () => {
    const { status } = await server.call('GET', '/threads/6f9619ff-8b86-d011-b42d-00cf4fc964ff/storage');
    expect(status).toBe(404);
  });
});

// Threads that are deleted during a read or an update: the response is that of before or after, never a mixture.

/** Large enough to be stored apart from its checkpoint. */
const messages = [
  { role: 'user', content: 'This is longer than what a checkpoint holds by itself. '.repeat(4) },
];

const makeThread = async () => {
  const { thread_id } = await client.threads.create();
  await client.runs.wait(thread_id, 'chat', { input: { messages } });
  const [run] = await client.runs.list(thread_id);
  return { thread_id, run_id: run?.run_id ?? '' };
};

type Request = [method: string, path: string, body?: unknown];

/** Sends a request that waits for the table while another transaction deletes the thread; returns the response. */
const callDuringDeletion = async (table: string, thread_id: string, [method, path, body]: Request) => {
  let answer: ReturnType<TestServer['call']> | undefined;
  await server.database.transact(async (tx) => {
    await tx.script(`lock table ${table} in access exclusive mode`);
    answer = server.call(method, path, body);
    await eventually(async () => expect(await lockWaiters(server.database)).not.toHaveLength(0));
    expect(await threadStorage(tx).delete(thread_id, everyRow)).toBe(true);
  });
  return answer;
};

const requests: Record<string, (thread: { thread_id: string }) => Request> = {
  'the thread': ({ thread_id }) => ['GET', `/threads/${thread_id}`],
  'its state': ({ thread_id }) => ['GET', `/threads/${thread_id}/state`],
  'a page of its state': ({ thread_id }) => ['GET', `/threads/${thread_id}/state/value?path=/messages`],
  'its history': ({ thread_id }) => ['GET', `/threads/${thread_id}/history`],
  'a change of its metadata': ({ thread_id }) => ['PATCH', `/threads/${thread_id}`, { metadata: { a: 1 } }],
  'an update of its state': ({ thread_id }) => [
    'POST',
    `/threads/${thread_id}/state`,
    { values: { messages }, as_node: 'answer' },
  ],
};

describe('a thread that is deleted meanwhile', () => {
  for (const [what, request] of Object.entries(requests)) {
    // Before the newest checkpoint is read, and between that and its values.
    for (const table of ['checkpoints', 'blobs']) {
      it(`returns 404 for ${what} while the request waits for ${table}`, async () => {
        const thread = await makeThread();
        const answer = await callDuringDeletion(table, thread.thread_id, request(thread));
        expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } });
      });
    }
  }

  for (const table of ['checkpoints', 'blobs']) {
    it(`is left out of a search that waits for ${table}`, async () => {
      const [deleted, there] = [await makeThread(), await makeThread()];
      const ids = [deleted.thread_id, there.thread_id];
      const search: Request = ['POST', '/threads/search', { ids, select: ['thread_id', 'values'] }];
      const answer = await callDuringDeletion(table, deleted.thread_id, search);
      expect(answer?.status).toBe(200);
      expect(answer?.body).toMatchObject([{ thread_id: there.thread_id, values: { messages: [{}, {}] } }]);
    });
  }

  it('returns no values to a client that joins its run', async () => {
    const { thread_id, run_id } = await makeThread();
    const join: Request = ['GET', `/threads/${thread_id}/runs/${run_id}/join`];
    expect(await callDuringDeletion('blobs', thread_id, join)).toMatchObject({ status: 200, body: null });
  });

  it('is distinguished from a missing value, which is an internal error', async () => {
    const { thread_id } = await makeThread();
    await server.database.script(`delete from blobs where space = '${thread_id}'`);
    expect(await server.call('GET', `/threads/${thread_id}`)).toMatchObject({ status: 500 });
    const search = { ids: [thread_id], select: ['values'] };
    expect(await server.call('POST', '/threads/search', search)).toMatchObject({ status: 500 });
  });
});

// Updates of the state of a subgraph, by the checkpoint of the task that runs it. The bare engine gives the expected results.

const stock = fixture(() => new Client({ apiUrl: server.url }));
const values = { log: ['edited'] };

/** What the bare engine says of the subgraph after the update, and of the run that continues. */
const expected = async (asNode?: string) => {
  const graph = withCheckpointer<typeof nested>(nested, new MemorySaver());
  const config = { configurable: { thread_id: 'a' } };
  await graph.invoke({ log: [] }, config);
  const { tasks } = await graph.getState(config, { subgraphs: true });
  const before = tasks[0]?.state as StateSnapshot;
  await graph.updateState(before.config, values, asNode);
  const ns = {
    configurable: { thread_id: 'a', checkpoint_ns: before.config.configurable?.['checkpoint_ns'] },
  };
  const after = await graph.getState(ns);
  return { values: after.values as object, next: after.next, tasks: after.tasks.map(({ name }) => name) };
};

const interrupted = async () => {
  const { thread_id } = await stock.threads.create();
  await stock.runs.wait(thread_id, 'nested', { input: { log: [] } });
  const state = await stock.threads.getState(thread_id, undefined, { subgraphs: true });
  const before = state.tasks[0]?.state as ThreadState;
  return { thread_id, before };
};

const seen = (state: ThreadState) => ({
  values: state.values,
  next: state.next,
  tasks: state.tasks.map(({ name }) => name),
});

describe('the state of a subgraph', () => {
  it.each(['deep', undefined])('has its next nodes after an update as %s', async (asNode) => {
    const { thread_id, before } = await interrupted();
    expect(before.next).toEqual(['ask']);
    const { checkpoint_ns, checkpoint_id } = before.checkpoint;
    await stock.threads.updateState(thread_id, {
      values,
      checkpoint: { thread_id, checkpoint_ns, checkpoint_id },
      ...(asNode === undefined ? {} : { asNode }),
    } as never);
    const want = await expected(asNode);
    expect(want.next).toEqual(['ask']);

    const { checkpoint: at } = await stock.threads.getState(thread_id, { checkpoint_ns } as never);
    expect(at.checkpoint_id).not.toBe(checkpoint_id);
    expect(seen(await stock.threads.getState(thread_id, { checkpoint_ns } as never))).toEqual(want);
    const nestedIn = await stock.threads.getState(thread_id, undefined, { subgraphs: true });
    expect(nestedIn.next).toEqual(['inner']);
    expect(seen(nestedIn.tasks[0]?.state as ThreadState)).toEqual(want);
    const history = await stock.threads.getHistory(thread_id, { checkpoint: { checkpoint_ns } as never });
    expect(history[0]?.next).toEqual(want.next);
    expect(history[0]?.metadata).toMatchObject({ source: 'update', writes: { [asNode ?? '']: values } });

    expect((await stock.threads.get(thread_id)).status).toBe('interrupted');
    const done = await stock.runs.wait(thread_id, 'nested', { command: { resume: 'yes' } });
    expect(done).toEqual({ log: ['deep', 'edited', 'asked yes'] });
  });
});

// The connection of a state update ends before the update is stored, and a run is created on its thread meanwhile.

const waitingFor = (call: string): Promise<{ pid: number }[]> => {
  const text = `select pid from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like '%' || $1 || '%'`;
  return server.database.query<{ pid: number }>({ name: 'waiting_for', text }, [call]);
};

it('the update is rejected, and its repetition is counted', async () => {
  const client = createClient({ apiUrl: server.url });
  const { thread_id } = await client.threads.create();
  await client.runs.wait(thread_id, 'chat', { input: { messages: [{ role: 'user', content: 'x' }] } });
  const { update, run } = await server.database.transact(async (tx) => {
    await tx.query({ name: 'hold_thread', text: 'select 1 from threads where thread_id = $1 for update' }, [
      thread_id,
    ]);
    const sent = server.call('POST', `/threads/${thread_id}/state`, { values: { messages: [] } });
    const [flush] = await eventually(async () => {
      const waiting = await waitingFor('commit_batch');
      expect(waiting).toHaveLength(1);
      return waiting;
    });
    const created = server.call('POST', `/threads/${thread_id}/runs`, {
      assistant_id: 'probe',
      input: { do: 'hang' },
    });
    await eventually(async () => expect(await waitingFor('create_run')).toHaveLength(1));
    await server.database.query({ name: 'end', text: 'select pg_terminate_backend($1, 1000)' }, [flush!.pid]);
    return { update: sent, run: created };
  });
  const { status, body } = await update;
  const { body: queued } = await run;
  expect({ status, body }).toMatchObject({ status: 409, body: { code: 'conflict' } });
  expect(String((await server.call('GET', '/metrics')).body)).toMatch(
    /^svc_flush_troubles_total\{kind="repeated"\} [1-9]/m,
  );
  await server.call(
    'POST',
    `/threads/${thread_id}/runs/${(queued as { run_id: string }).run_id}/cancel?wait=true`,
  );
});

// Threads that wait for an answer: what a cancelled run leaves of their questions, and the filter that finds them.

const group = randomUUID();
const newThread = async () => (await client.threads.create({ metadata: { group } })).thread_id;

/** A thread that waits at the interrupts of a graph. */
const asking = async (graph: string) => {
  const thread_id = await newThread();
  await client.runs.wait(thread_id, graph, { input: { log: [] } });
  return thread_id;
};

/** The values of the thread's interrupts, and those of its newest checkpoint. */
const questionsOf = async (thread_id: string) => {
  const { interrupts = {}, status } = await client.threads.get(thread_id);
  const { tasks } = await client.threads.getState(thread_id);
  const open = tasks.filter(({ result }) => result === null || result === undefined);
  return {
    status,
    thread: Object.values(interrupts).flatMap((list) => list.map(({ value }) => value)),
    state: open.flatMap((task) => task.interrupts.map(({ value }) => value)),
  };
};

const expectQuestions = async (thread_id: string, questions: unknown[]) =>
  expect(await questionsOf(thread_id)).toEqual({
    status: 'interrupted',
    thread: questions,
    state: questions,
  });

const idOf = async (thread_id: string, question: string): Promise<string> => {
  const { interrupts = {} } = await client.threads.get(thread_id);
  const found = Object.values(interrupts)
    .flat()
    .find(({ value }) => value === question);
  return String(found?.id);
};

const cancelWhen = async (thread_id: string, run_id: string, isReached: () => Promise<void>) => {
  await eventually(isReached);
  await client.runs.cancel(thread_id, run_id, { wait: true });
};

/** The newest checkpoint of the thread has tasks that are left to execute. */
const hasTasks = (thread_id: string) => async () => {
  const { next } = await client.threads.getState(thread_id);
  expect(next).not.toEqual([]);
  // The run has no checkpoint yet.
  expect(next).not.toEqual(['__start__']);
};

const isRunning = (thread_id: string, run_id: string) => async () =>
  expect(await client.runs.get(thread_id, run_id)).toMatchObject({ status: 'running' });

describe('the interrupts of a thread after a cancelled run', () => {
  it('are those that the run found, if the run has finished no task', async () => {
    const thread_id = await asking('approval');
    const { run_id } = await client.runs.create(thread_id, 'approval', { command: { resume: 'hold' } });
    await cancelWhen(thread_id, run_id, isRunning(thread_id, run_id));
    await expectQuestions(thread_id, [{ question: 'send?' }]);
  });

  it('lack those of tasks that have finished', async () => {
    const thread_id = await asking('questions');
    const [first, second] = [await idOf(thread_id, 'first?'), await idOf(thread_id, 'second?')];
    const { run_id } = await client.runs.create(thread_id, 'questions', {
      command: { resume: { [first]: 'yes', [second]: 'hold' } },
    });
    await cancelWhen(thread_id, run_id, async () =>
      expect((await questionsOf(thread_id)).state).toEqual(['second?']),
    );
    await expectQuestions(thread_id, ['second?']);
  });

  it('are those of its own tasks, if another task was still executing', async () => {
    const thread_id = await newThread();
    const { run_id } = await client.runs.create(thread_id, 'questions', { input: { log: ['hold'] } });
    await cancelWhen(thread_id, run_id, async () =>
      expect((await questionsOf(thread_id)).state).toEqual(['first?']),
    );
    await expectQuestions(thread_id, ['first?']);
  });

  it.each([
    ['a NUL', 'a\u0000b'],
    ['half a character', 'a\ud83d'],
    ['a thousand questions', Array.from({ length: 1_000 }, (_, at) => `question ${at}`)],
  ])('are kept with %s, and other runs start', async (_, question) => {
    const thread_id = await newThread();
    await client.runs.wait(thread_id, 'asking', { input: { question: JSON.stringify(question) } });
    const { run_id } = await client.runs.create(thread_id, 'asking', { command: { resume: 'hold' } });
    await cancelWhen(thread_id, run_id, isRunning(thread_id, run_id));
    await expectQuestions(thread_id, [question]);
    await client.runs.wait(thread_id, 'asking', { command: { resume: 'throw' } }).catch(() => undefined);
    expect(await questionsOf(thread_id)).toEqual({ status: 'error', thread: [question], state: [question] });
    expect(await client.runs.wait(null, 'probe', { input: { do: 'pid' } })).toMatchObject({ do: 'pid' });
  });

  it('are kept whenever the run is cancelled, also before it has read the checkpoint', async () => {
    const thread_id = await asking('approval');
    for (let at = 0; at < 20; at++) {
      const { run_id } = await client.runs.create(thread_id, 'approval', { command: { resume: 'hold' } });
      await client.runs.cancel(thread_id, run_id, { wait: true });
      await expectQuestions(thread_id, [{ question: 'send?' }]);
    }
  });

  it('are kept when its executor was killed', async () => {
    const question = 'a\u0000b';
    const thread_id = await newThread();
    await client.runs.wait(thread_id, 'asking', { input: { question: JSON.stringify(question) } });
    const { run_id } = await client.runs.create(thread_id, 'asking', { command: { resume: 'block' } });
    await cancelWhen(thread_id, run_id, isRunning(thread_id, run_id));
    await expectQuestions(thread_id, [question]);
  });

  it('are none, if the run has passed them', async () => {
    const thread_id = await asking('approval');
    await client.runs.wait(thread_id, 'approval', { command: { resume: 'yes' } });
    const { run_id } = await client.runs.create(thread_id, 'probe', {
      input: { do: 'waitForAbort' },
    });
    await cancelWhen(thread_id, run_id, hasTasks(thread_id));
    await expectQuestions(thread_id, []);
  });
});

describe('a search with has_interrupts', () => {
  it('tells threads that wait for an answer from those that stopped without a question', async () => {
    const only = { group: randomUUID() };
    const create = async () => (await client.threads.create({ metadata: only })).thread_id;
    const [idle, asked, stopped, cancelled] = [
      await create(),
      await create(),
      await create(),
      await create(),
    ];
    await client.runs.wait(asked, 'approval', { input: { log: [] } });
    await client.runs.wait(stopped, 'approval', { input: { log: [] }, interrupt_before: ['review'] });
    const { run_id } = await client.runs.create(cancelled, 'probe', { input: { do: 'waitForAbort' } });
    await cancelWhen(cancelled, run_id, hasTasks(cancelled));

    const search = async (filter: object) => {
      const found = await client.threads.search({ metadata: only, sort_order: 'asc', ...filter });
      const count = await client.threads.count({ metadata: only, ...filter });
      expect(count).toBe(found.length);
      return found.map(({ thread_id }) => thread_id);
    };
    expect(await search({ has_interrupts: true })).toEqual([asked]);
    expect(await search({ has_interrupts: false })).toEqual([idle, stopped, cancelled]);
    expect(await search({ has_interrupts: false, status: 'interrupted' })).toEqual([stopped, cancelled]);
    expect(await search({ has_interrupts: true, status: 'idle' })).toEqual([]);
    await client.runs.wait(asked, 'approval', { command: { resume: 'yes' } });
    expect(await search({ has_interrupts: true })).toEqual([]);
  });
});
