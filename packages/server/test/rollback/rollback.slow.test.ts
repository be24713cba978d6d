// A run that is rolled back or deleted takes its answers with it: the thread returns to its state before that run.
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
  server = await startTestServer({ project, settings: { cancelGraceMs: 5_000 } });
  client = createClient({ apiUrl: server.url });
});
afterAll(() => server[Symbol.asyncDispose]());

const newThread = async (): Promise<string> => (await client.threads.create()).thread_id;
const rowsOf = (thread_id: string) => threadRows(server.database, thread_id);
const openBarrier = (run_id: string) => client.store.put(['barriers'], run_id, {});
const remove = (thread_id: string, run_id: string) => client.runs.delete(thread_id, run_id);

/** Starts a run and waits until it ends. */
const run = async (thread_id: string, body: object): Promise<string> => {
  const { run_id } = await client.runs.create(thread_id, 'survey', body);
  await client.runs.join(thread_id, run_id);
  return run_id;
};
const start = (thread_id: string, plan: Plan) => run(thread_id, { input: { plan } });
const resume = (thread_id: string, answer: unknown) => run(thread_id, { command: { resume: answer } });

/** Starts a run and waits until it reaches the barrier. */
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
  it('leaves the question as it was when it is rolled back', async () => {
    const thread_id = await newThread();
    await start(thread_id, { open: 1, hold: 'open' });
    const before = await rowsOf(thread_id);
    const run_id = await hold(thread_id, { command: { resume: 'yes' } });
    await rollBack(thread_id, run_id);
    expect(await rowsOf(thread_id)).toEqual(before);
    const other = await hold(thread_id, { command: { resume: 'no' } });
    await openBarrier(other);
    await client.runs.join(thread_id, other);
    expect((await logOf(thread_id))[0]).toBe('open no');
  });

  it('leaves the question as it was when it is deleted', async () => {
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

  it('leaves the question to the next run when that run rolls it back', async () => {
    const thread_id = await newThread();
    await start(thread_id, { left: 1, right: 1, hold: 'right' });
    const run_id = await hold(thread_id, { command: { resume: 'yes' } });
    const other = await hold(thread_id, { command: { resume: 'no' }, multitask_strategy: 'rollback' });
    await expect(client.runs.get(thread_id, run_id)).rejects.toMatchObject({ status: 404 });
    await openBarrier(other);
    await client.runs.join(thread_id, other);
    expect(await logOf(thread_id)).toEqual(['open', 'ask', 'again', 'left no', 'right no', 'close']);
  });

  it('restores the answers of earlier runs to the same node when it is deleted', async () => {
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

  it('keeps the answers that a later run depends on when it is deleted', async () => {
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

  it('keeps a later answer when it is deleted together with the run that asked', async () => {
    const thread_id = await newThread();
    const interruptedRun = await start(thread_id, { open: 2 });
    const answered = await resume(thread_id, 'a');
    await remove(thread_id, interruptedRun);
    expect(await questionsOf(thread_id)).toEqual(['open 1?']);
    await remove(thread_id, answered);
    const { interrupts, status } = await client.threads.get(thread_id);
    expect({ interrupts, status }).toEqual({ interrupts: {}, status: 'idle' });
    expect((await client.threads.getState(thread_id)).checkpoint_id).toBeNull();
  });

  it('leaves a subgraph as it was when it is deleted', async () => {
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

  it('keeps the answers of other parallel nodes when it is deleted', async () => {
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

describe('a run without input on an interrupted thread', () => {
  it('leaves the thread as it was when it is rolled back', async () => {
    const thread_id = await newThread();
    await run(thread_id, { input: { plan: { hold: 'right' } }, interrupt_before: ['left'] });
    const before = await rowsOf(thread_id);
    const run_id = await hold(thread_id, {});
    await rollBack(thread_id, run_id);
    expect(await rowsOf(thread_id)).toEqual(before);
  });
});

describe('a deleted run', () => {
  it('that failed restores the earlier status, error and questions of the thread', async () => {
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
