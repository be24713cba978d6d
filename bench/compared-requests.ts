// Single requests, and many at once: the time and the CPU of each.
import { randomUUID } from 'node:crypto';
import type { Client } from '@svc/sdk';
import { median } from './report.ts';
import type { Target } from './targets.ts';

const userMessage = (content: string) => ({ messages: [{ role: 'user', content }] });

/** Values by name; names that end with `Ms` are milliseconds. */
export type Figures = Record<string, number>;

type Work = () => Promise<unknown>;

export const timed = async (work: Work): Promise<number> => {
  const started = performance.now();
  await work();
  return performance.now() - started;
};

/** One request after the other. */
export const alone = async (target: Target, count: number, work: Work) => {
  for (let at = 0; at < count / 5; at++) await work();
  const cpu = target.cpuMs();
  const all: number[] = [];
  for (let at = 0; at < count; at++) all.push(await timed(work));
  return { p50Ms: median(all), cpuMs: (target.cpuMs() - cpu) / count };
};

const clients = 32;

/** By 32 clients at once. */
const together = async (target: Target, count: number, work: Work) => {
  const all = (each: number) =>
    Promise.all(
      Array.from({ length: clients }, async () => {
        for (let at = 0; at < each; at++) await work();
      }),
    );
  await all(Math.ceil(count / clients / 5));
  const cpu = target.cpuMs();
  const each = Math.ceil(count / clients);
  const ms = await timed(() => all(each));
  return { perSecond: (each * clients * 1_000) / ms, cpuMs: (target.cpuMs() - cpu) / (each * clients) };
};

/** `scale`: 1 for a server that executes runs at once. The development server waits half a second before each. */
export const runs = async (target: Target, scale: number): Promise<Figures> => {
  const { client } = target;
  const wait = (): Promise<unknown> =>
    client.runs.wait(randomUUID(), 'one-node', { input: userMessage('hello'), if_not_exists: 'create' });
  const one = await alone(target, 500 * scale, wait);
  const many = await together(target, 3_200 * scale, wait);
  const later = await alone(target, 500 * scale, wait);
  const interrupts: number[] = [];
  const resumes: number[] = [];
  for (let at = 0; at < 150 * scale; at++) {
    const { thread_id } = await client.threads.create();
    interrupts.push(await timed(() => client.runs.wait(thread_id, 'asking', { input: userMessage('hi') })));
    resumes.push(await timed(() => client.runs.wait(thread_id, 'asking', { command: { resume: 'Paris' } })));
  }
  return {
    waitMs: one.p50Ms,
    waitCpu: one.cpuMs,
    waits: many.perSecond,
    laterMs: later.p50Ms,
    laterCpu: later.cpuMs,
    waitsCpu: many.cpuMs,
    interruptMs: median(interrupts.slice(interrupts.length / 5)),
    resumeMs: median(resumes.slice(resumes.length / 5)),
  };
};

export const threads = async (target: Target): Promise<Figures> => {
  const { client } = target;
  const ids: string[] = [];
  const create = await together(target, 3_200, async () =>
    ids.push((await client.threads.create({ metadata: { a: 1 } })).thread_id),
  );
  let at = 0;
  const get = (): Promise<unknown> => client.threads.get(ids[at++ % ids.length] ?? '');
  const gets = await together(target, 6_400, get);
  const one = await alone(target, 1_000, get);
  return {
    creates: create.perSecond,
    createCpu: create.cpuMs,
    gets: gets.perSecond,
    getsCpu: gets.cpuMs,
    getMs: one.p50Ms,
  };
};

const messageChars = 620; // 400 messages: about 258 kB with what surrounds them

/** Creates a thread with `count` runs. */
const longThread = async (client: Client, count: number): Promise<string> => {
  const { thread_id } = await client.threads.create();
  for (let at = 0; at < count; at++)
    await client.runs.wait(thread_id, 'one-node', { input: userMessage('x'.repeat(messageChars / 2)) });
  return thread_id;
};

/** `turns`: runs of the long thread. */
export const states = async (target: Target, turns: number): Promise<Figures> => {
  const { client } = target;
  const { thread_id } = await client.threads.create();
  await client.runs.wait(thread_id, 'counter', { input: { count: 1 } });
  const update = await alone(target, 300, () =>
    client.threads.updateState(thread_id, { values: { count: 2 } }),
  );
  const long = await longThread(client, turns);
  const state = await alone(target, 100, () => client.threads.getState(long));
  const history = await alone(target, 50, () => client.threads.getHistory(long, { limit: 10 }));
  return { updateMs: update.p50Ms, updateCpu: update.cpuMs, stateMs: state.p50Ms, historyMs: history.p50Ms };
};
