// A run that is rolled back or deleted takes its answers with it: the thread is as it was before that run.
import { fileURLToPath } from 'node:url';
import { createClient, type Client } from '@svc/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startTestServer, type TestServer } from '../server.ts';
import type { Plan } from './survey.ts';
import { threadRows } from './thread-rows.ts';

let server: TestServer;
let client: Client;
beforeAll(async () => {
  const project = fileURLToPath(new URL('./svc.json', import.meta.url));
  server = await startTestServer({ project, settings: { cancelGrace: '5s' } });
  client = createClient({ apiUrl: server.url });
});
afterAll(() => server[Symbol.asyncDispose]());

const newThread = async (): Promise<string> => (await client.threads.create()).thread_id;
const rowsOf = (thread_id: string) => threadRows(server.database, thread_id);
const openGate = (run_id: string) => client.store.put(['gates'], run_id, {});
const remove = (thread_id: string, run_id: string) => client.runs.delete(thread_id, run_id);

/** Starts a run, and waits until it is over. */
const run = async (thread_id: string, body: object): Promise<string> => {
  const { run_id } = await client.runs.create(thread_id, 'survey', body);
  await client.runs.join(thread_id, run_id);
  return run_id;
};
const start = (thread_id: string, plan: Plan) => run(thread_id, { input: { plan } });
const resume = (thread_id: string, answer: unknown) => run(thread_id, { command: { resume: answer } });

/** Starts a run, and waits until it is at the gate. */
const hold = async (thread_id: string, body: object): Promise<string> => {
  const { run_id } = await client.runs.create(thread_id, 'survey', body);
  await eventually(async () => expect(await client.store.get(['waiting'], run_id)).toBeTruthy());
  return run_id;
};
const rollBack = async (thread_id: string, run_id: string): Promise<void> =>
  client.runs.cancel(thread_id, run_id, { action: 'rollback', wait: true });

const logOf = async (thread_id: string): Promise<string[]> =>
  ((await client.threads.getState(thread_id)).values as { log: string[] }).log;
const questionsOf = async (thread_id: string): Promise<unknown[]> =>
  Object.values((await client.threads.get(thread_id)).interrupts ?? {})
    .flat()
    .map(({ value }) => value);

describe('a run that answers a question', () => {
  it('and is rolled back leaves the question as it found it', async () => {
    const thread_id = await newThread();
    await start(thread_id, { open: 1, hold: 'open' });
    const before = await rowsOf(thread_id);
    const run_id = await hold(thread_id, { command: { resume: 'yes' } });
    await rollBack(thread_id, run_id);
    expect(await rowsOf(thread_id)).toEqual(before);
    const other = await hold(thread_id, { command: { resume: 'no' } });
    await openGate(other);
    await client.runs.join(thread_id, other);
    expect((await logOf(thread_id))[0]).toBe('open no');
  });

  it('and is deleted leaves the question as it found it', async () => {
    const thread_id = await newThread();
    await start(thread_id, { open: 1, close: 1 });
    const before = await rowsOf(thread_id);
    const run_id = await resume(thread_id, 'yes');
    expect((await logOf(thread_id))[0]).toBe('open yes');
    await remove(thread_id, run_id);
    expect(await rowsOf(thread_id)).toEqual(before);
    await resume(thread_id, 'no');
    expect((await logOf(thread_id))[0]).toBe('open no');
  });

  it('and makes way by rollback leaves the question to the run after it', async () => {
    const thread_id = await newThread();
    await start(thread_id, { left: 1, right: 1, hold: 'right' });
    const run_id = await hold(thread_id, { command: { resume: 'yes' } });
    const other = await hold(thread_id, { command: { resume: 'no' }, multitask_strategy: 'rollback' });
    await expect(client.runs.get(thread_id, run_id)).rejects.toMatchObject({ status: 404 });
    await openGate(other);
    await client.runs.join(thread_id, other);
    expect(await logOf(thread_id)).toEqual(['open', 'ask', 'again', 'left no', 'right no', 'close']);
  });

  it('and is deleted brings back what earlier runs answered to the same node', async () => {
    const thread_id = await newThread();
    await start(thread_id, { open: 3 });
    const states = [await rowsOf(thread_id)];
    const runs: string[] = [];
    for (const answer of ['a', 'b', 'c']) {
      runs.push(await resume(thread_id, answer));
      states.push(await rowsOf(thread_id));
    }
    for (const run_id of runs.toReversed()) {
      states.pop();
      await remove(thread_id, run_id);
      expect(await rowsOf(thread_id)).toEqual(states.at(-1));
    }
    for (const answer of ['x', 'y', 'z']) await resume(thread_id, answer);
    expect((await logOf(thread_id))[0]).toBe('open x y z');
  });

  it('and is deleted does not take away what a later run rests on', async () => {
    const thread_id = await newThread();
    await start(thread_id, { open: 3 });
    const [first, second] = [await resume(thread_id, 'a'), await resume(thread_id, 'b')];
    await remove(thread_id, first);
    expect(await questionsOf(thread_id)).toEqual(['open 2?']);
    const last = await resume(thread_id, 'c');
    expect((await logOf(thread_id))[0]).toBe('open a b c');
    await remove(thread_id, last);
    expect(await questionsOf(thread_id)).toEqual(['open 2?']);
    await remove(thread_id, second);
    expect(await questionsOf(thread_id)).toEqual(['open 0?']);
  });

  it('and is deleted with the run that asked it below a later answer takes nothing from that', async () => {
    const thread_id = await newThread();
    const asked = await start(thread_id, { open: 2 });
    const answered = await resume(thread_id, 'a');
    await remove(thread_id, asked);
    expect(await questionsOf(thread_id)).toEqual(['open 1?']);
    await remove(thread_id, answered);
    const { interrupts, status } = await client.threads.get(thread_id);
    expect({ interrupts, status }).toEqual({ interrupts: {}, status: 'idle' });
    expect((await client.threads.getState(thread_id)).checkpoint_id).toBeNull();
  });

  it('inside a subgraph and is deleted leaves the subgraph as it found it', async () => {
    const thread_id = await newThread();
    await start(thread_id, { ask: 2, again: 1 });
    const states = [await rowsOf(thread_id)];
    const runs: string[] = [];
    for (const answer of ['a', 'b', 'c']) {
      runs.push(await resume(thread_id, answer));
      states.push(await rowsOf(thread_id));
    }
    expect(await logOf(thread_id)).toContain('ask a b');
    for (const run_id of runs.toReversed()) {
      states.pop();
      await remove(thread_id, run_id);
      expect(await rowsOf(thread_id)).toEqual(states.at(-1));
    }
  });

  it('of one parallel node and is deleted leaves the answers of the others', async () => {
    const thread_id = await newThread();
    await start(thread_id, { left: 1, right: 1, ask: 1 });
    const { interrupts } = await client.threads.get(thread_id);
    const idOf = (question: string): string =>
      Object.values(interrupts ?? {})
        .flat()
        .find(({ value }) => value === question)?.id ?? '';
    await resume(thread_id, { [idOf('left 0?')]: 'l' });
    const before = await rowsOf(thread_id);
    const run_id = await resume(thread_id, { [idOf('right 0?')]: 'r' });
    await remove(thread_id, run_id);
    expect(await rowsOf(thread_id)).toEqual(before);
    await resume(thread_id, { [idOf('right 0?')]: 'other', [idOf('ask 0?')]: 'i' });
    expect(await logOf(thread_id)).toEqual(['open', 'ask i', 'again', 'left l', 'right other', 'close']);
  });
});

describe('a run without input on a thread that waits', () => {
  it('and is rolled back leaves the thread as it found it', async () => {
    const thread_id = await newThread();
    await run(thread_id, { input: { plan: { hold: 'right' } }, interrupt_before: ['left'] });
    const before = await rowsOf(thread_id);
    const run_id = await hold(thread_id, {});
    await rollBack(thread_id, run_id);
    expect(await rowsOf(thread_id)).toEqual(before);
  });
});

describe('a deleted run', () => {
  it('that failed gives the thread back its earlier status, error and questions', async () => {
    const thread_id = await newThread();
    await start(thread_id, { open: 1 });
    const before = await rowsOf(thread_id);
    const failing = { input: { plan: {} }, config: { recursion_limit: 1 } };
    const { run_id } = await client.runs.create(thread_id, 'survey', failing);
    await eventually(async () => expect((await client.threads.get(thread_id)).status).toBe('error'));
    await remove(thread_id, run_id);
    expect(await rowsOf(thread_id)).toEqual(before);
  });
});
