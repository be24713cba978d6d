// Threads that wait for an answer: what a cancelled run leaves of their questions, and the filter that finds them.
import { randomUUID } from 'node:crypto';
import { createClient, type Client } from '@svc/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startTestServer, type TestServer } from '../server.ts';

let server: TestServer;
let client: Client;
beforeAll(async () => {
  server = await startTestServer();
  client = createClient({ apiUrl: server.url });
});
afterAll(() => server[Symbol.asyncDispose]());

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
    await using killing = await startTestServer({
      database: server.database,
      settings: { cancelGraceMs: 300 },
    });
    const question = 'a\u0000b';
    const thread_id = await newThread();
    await client.runs.wait(thread_id, 'asking', { input: { question: JSON.stringify(question) } });
    const { run_id } = await createClient({ apiUrl: killing.url }).runs.create(thread_id, 'asking', {
      command: { resume: 'block' },
    });
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
