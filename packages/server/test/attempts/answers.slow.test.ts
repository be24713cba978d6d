// A run that loses an attempt applies its answers and its input once, to the questions that it found.
import { fileURLToPath } from 'node:url';
import { createClient } from '@svc/sdk';
import { describe, expect, it } from 'vitest';
import { takesFalse } from '../engines/false-answers.ts';
import { eventually } from '../eventually.ts';
import { startTestServer } from '../server.ts';
import { fixture } from '../fixture.ts';

const server = fixture(() =>
  startTestServer({ project: fileURLToPath(new URL('./svc.json', import.meta.url)) }),
);
const client = fixture(() => createClient({ apiUrl: server.url }));

const falseAnswers = (await takesFalse()) ? [false] : [];

const newThread = async (): Promise<string> => (await client.threads.create()).thread_id;

/** Runs until a node waits at the barrier and `isStored` holds, ends the attempt, and lets the next attempt pass. */
const runLosingAnAttempt = async (
  thread_id: string,
  body: object,
  isStored: () => Promise<void>,
): Promise<string> => {
  const { run_id } = await client.runs.create(thread_id, 'survey', body);
  await eventually(async () => expect(await client.store.get(['waiting'], run_id)).toBeTruthy());
  await eventually(isStored);
  await client.store.put(['barriers'], run_id, { exit: 1 });
  await client.runs.join(thread_id, run_id);
  expect(await client.runs.get(thread_id, run_id)).toMatchObject({ status: 'success', attempt: 2 });
  return run_id;
};

const questionsOf = async (thread_id: string): Promise<unknown[]> =>
  Object.values((await client.threads.get(thread_id)).interrupts ?? {})
    .flat()
    .map(({ value }) => value);

const hasInterrupt =
  (thread_id: string, question: string): (() => Promise<void>) =>
  async () => {
    const state = await client.threads.getState(thread_id, { subgraphs: true });
    expect(JSON.stringify(state.tasks)).toContain(question);
  };

describe('the answer of a run that lost an attempt', () => {
  it('does not answer the next question of the node', async () => {
    const thread_id = await newThread();
    const input = { plan: { left: 2, right: 1, hold: 'right' } };
    await client.runs.wait(thread_id, 'survey', { input });
    const body = { command: { resume: 'a' } };
    await runLosingAnAttempt(thread_id, body, hasInterrupt(thread_id, 'left 1?'));
    expect(await questionsOf(thread_id)).toEqual(['left 1?']);
    await client.runs.wait(thread_id, 'survey', { command: { resume: 'b' } });
    const { log } = (await client.threads.getState(thread_id)).values as { log: string[] };
    expect(log).toEqual(['open', 'ask', 'again', 'left a b', 'right a', 'close']);
  });

  // For the engine, false is an answer too, and so is an empty object, which names no interrupt.
  it.each(['a', ...falseAnswers, {}])(
    'does not answer the next question inside a subgraph: %j',
    async (answer) => {
      const thread_id = await newThread();
      const input = { plan: { ask: 1, again: 1, right: 1, hold: 'right' } };
      await client.runs.wait(thread_id, 'survey', { input });
      const body = { command: { resume: answer } };
      await runLosingAnAttempt(thread_id, body, hasInterrupt(thread_id, 'again 0?'));
      expect(await questionsOf(thread_id)).toEqual(['again 0?']);
      await client.runs.wait(thread_id, 'survey', { command: { resume: 'b' } });
      const { log } = (await client.threads.getState(thread_id)).values as { log: string[] };
      expect(log).toEqual([
        'open',
        `ask ${String(answer)}`,
        'again b',
        'left',
        `right ${String(answer)}`,
        'close',
      ]);
    },
  );

  it('does not answer a question of a later step', async () => {
    const thread_id = await newThread();
    await client.runs.wait(thread_id, 'survey', { input: { plan: { open: 1, right: 1, hold: 'left' } } });
    const body = { command: { resume: 'a' }, durability: 'sync' };
    await runLosingAnAttempt(thread_id, body, hasInterrupt(thread_id, 'right 0?'));
    expect(await questionsOf(thread_id)).toEqual(['right 0?']);
  });
});

describe('the update of a run that lost an attempt', () => {
  it('is applied once', async () => {
    const thread_id = await newThread();
    await client.runs.wait(thread_id, 'survey', {
      input: { plan: { hold: 'close' } },
      interrupt_before: ['close'],
    });
    const body = { command: { update: { log: ['updated'] }, goto: 'close' }, durability: 'sync' };
    await runLosingAnAttempt(thread_id, body, () => Promise.resolve());
    const { log } = (await client.threads.getState(thread_id)).values as { log: string[] };
    expect(log.filter((line) => line === 'updated')).toHaveLength(1);
  });
});

describe('a run from an earlier checkpoint that lost an attempt', () => {
  it('resumes without repeating a step', async () => {
    const thread_id = await newThread();
    await client.runs.wait(thread_id, 'survey', {
      input: { plan: { hold: 'left' } },
      interrupt_before: ['open'],
    });
    const { checkpoint_id } = await client.threads.getState(thread_id);
    const body = { checkpoint_id, durability: 'sync' };
    const run_id = await runLosingAnAttempt(thread_id, body, () => Promise.resolve());
    const history = await client.threads.getHistory(thread_id, { limit: 100 });
    const steps = history
      .filter(({ metadata }) => metadata?.['run_id'] === run_id)
      .map(({ metadata }) => metadata?.['step']);
    expect(new Set(steps).size).toBe(steps.length);
  });
});
