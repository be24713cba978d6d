// Measures the engine alone, in its own process: LangGraph.js `invoke` with its MemorySaver and the same graph.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, MemorySaver } from '@langchain/langgraph';
import { askingBuilder, builder } from './graph.ts';

const graph = builder.compile({ checkpointer: new MemorySaver() });
const userMessage = (content: string) => ({ messages: [{ role: 'user', content }] });

const run = async (content: string, thread_id: string = randomUUID()): Promise<number> => {
  const started = performance.now();
  await graph.invoke(userMessage(content), { configurable: { thread_id } });
  return performance.now() - started;
};

const median = (numbers: number[]): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0;

/** CPU milliseconds of a piece of work. */
const cpu = async (work: () => Promise<unknown>): Promise<number> => {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};

const repeat = async (count: number, work: () => Promise<unknown>): Promise<void> => {
  for (let index = 0; index < count; index++) {
    await work();
    await new Promise(setImmediate);
  }
};

await repeat(300, () => run('warm'));

const latencies: number[] = [];
await repeat(500, async () => latencies.push(await run('hello')));

// The pace of a server with one client: caches of the processor are cold when the next run begins.
const pauseMs = 7;
const pacedCount = 500;
const paced: number[] = [];
const pacedCpuMs = await cpu(async () => {
  for (let index = 0; index < pacedCount; index++) {
    await sleep(pauseMs);
    paced.push(await run('hello'));
  }
});

const asking = askingBuilder.compile({ checkpointer: new MemorySaver() });
const interrupts: number[] = [];
const resumes: number[] = [];
const askAndAnswer = async (): Promise<void> => {
  const config = { configurable: { thread_id: randomUUID() } };
  const started = performance.now();
  await asking.invoke(userMessage('hi'), config);
  const asked = performance.now();
  await asking.invoke(new Command({ resume: 'Paris' }), config);
  interrupts.push(asked - started);
  resumes.push(performance.now() - asked);
};
await repeat(300, askAndAnswer);

const count = 3_200;
const clients = 32;
const started = performance.now();
const cpuMs = await cpu(() =>
  Promise.all(Array.from({ length: clients }, () => repeat(count / clients, () => run('hello')))),
);
const rate = (count / (performance.now() - started)) * 1000;

const thread = randomUUID();
const text = 'x'.repeat(500);
const onThread = (runs: number) => cpu(() => repeat(runs, () => run(text, thread)));
const firstTen = await onThread(10);
await onThread(180);
const lastTen = await onThread(10);

process.stdout.write(
  JSON.stringify({
    p50Ms: median(latencies),
    pacedMs: median(paced),
    pacedCpuMs: pacedCpuMs / pacedCount,
    interruptMs: median(interrupts.slice(100)),
    resumeMs: median(resumes.slice(100)),
    cpuMsPerRun: cpuMs / count,
    runsPerSecond: rate,
    growth: lastTen / firstTen,
  }),
);
