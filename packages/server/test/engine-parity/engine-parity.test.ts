// Threads of the server are in the states that the bare engine reaches, with the same graph and the same commands.
import { fileURLToPath } from 'node:url';
import { Command, MemorySaver } from '@langchain/langgraph';
import { type Client, createClient } from '@svc/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withCheckpointer } from '../engine-copy.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { functions, memory, optional, questions } from './graphs.ts';

let server: TestServer;
let client: Client;
beforeAll(async () => {
  server = await startTestServer({ project: fileURLToPath(new URL('./svc.json', import.meta.url)) });
  client = createClient({ apiUrl: server.url });
});
afterAll(() => server[Symbol.asyncDispose]());

/** What is used of a graph here; each has types of its own. */
interface Engine {
  invoke(input: unknown, config: object): Promise<Record<string, unknown>>;
  getState(config: object): Promise<{ values: unknown; next: string[]; config: object }>;
}

const graphs = { functions, memory, optional, questions };

/** The graph with a saver of the engine. */
const engineOf = (name: keyof typeof graphs): Engine => withCheckpointer(graphs[name], new MemorySaver());

const at = { configurable: { thread_id: '1' } };

const questionsIn = (result: unknown): unknown[] =>
  ((result as { __interrupt__?: { value: unknown }[] }).__interrupt__ ?? []).map(({ value }) => value);

const newThread = async (): Promise<string> => (await client.threads.create()).thread_id;

describe('a run from an older checkpoint', () => {
  it('asks again in a subgraph with a memory of its own', async () => {
    const engine = engineOf('memory');
    await engine.invoke({}, at);
    const asked = await engine.getState(at);
    await engine.invoke(new Command({ resume: 'yes' }), at);
    const replayed = await engine.invoke(null, asked.config);

    const thread_id = await newThread();
    await client.runs.wait(thread_id, 'memory', { input: {} });
    const { checkpoint } = await client.threads.getState(thread_id);
    await client.runs.wait(thread_id, 'memory', { command: { resume: 'yes' } });
    const result = await client.runs.wait(thread_id, 'memory', { input: null, checkpoint });
    expect(questionsIn(result)).toEqual(questionsIn(replayed));
    expect(questionsIn(result)).toEqual(['May I?']);
    const [run] = await client.runs.list(thread_id);
    expect(run).toMatchObject({ attempt: 1 });
  });

  it('asks again in nested subgraphs, each time', async () => {
    const thread_id = await newThread();
    await client.runs.wait(thread_id, 'nested', { input: {} });
    const { checkpoint } = await client.threads.getState(thread_id);
    await client.runs.wait(thread_id, 'nested', { command: { resume: 'yes' } });
    await client.runs.wait(thread_id, 'nested', { input: null, checkpoint });
    const head = await client.threads.getState(thread_id);
    const again = await client.runs.wait(thread_id, 'nested', { input: null, checkpoint: head.checkpoint });
    expect(questionsIn(again)).toEqual(['Sure?']);
  });

  it('executes each node once when the input is another', async () => {
    const thread_id = await newThread();
    await client.runs.wait(thread_id, 'memory', { input: {} });
    await client.runs.wait(thread_id, 'memory', { command: { resume: 'yes' } });
    const first = (await client.threads.getHistory(thread_id, { limit: 100 })).at(-1);
    await client.runs.wait(thread_id, 'memory', { input: {}, checkpoint: first?.checkpoint ?? {} });
    const [run] = await client.runs.list(thread_id);
    expect(run).toMatchObject({ attempt: 1 });
  });
});

describe('a question', () => {
  it.each(['async', 'sync', 'exit'] as const)('is open with durability %s', async (durability) => {
    const thread_id = await newThread();
    await client.runs.wait(thread_id, 'question', { input: {}, durability });
    const { interrupts } = await client.threads.get(thread_id);
    expect(
      Object.values(interrupts ?? {})
        .flat()
        .map(({ value }) => value),
    ).toEqual(['Ok?']);
    const waiting = await client.threads.search({ ids: [thread_id], has_interrupts: true });
    expect(waiting).toHaveLength(1);
  });
});

describe('questions of one superstep', () => {
  it('are all in the result of the run', async () => {
    const asked = await engineOf('questions').invoke({}, at);
    const result = await client.runs.wait(await newThread(), 'questions', { input: {} });
    expect(questionsIn(result)).toEqual(questionsIn(asked));
    expect(questionsIn(result)).toEqual(['First?', 'Second?']);
  });
});

describe('a value', () => {
  it.each(['functions', 'optional'] as const)('is stored as by the engine: %s', async (name) => {
    const engine = engineOf(name);
    await engine.invoke({}, at);
    const { values } = await engine.getState(at);
    const thread_id = await newThread();
    await client.runs.wait(thread_id, name, { input: {} });
    const state = await client.threads.getState(thread_id);
    expect(state.values).toEqual(JSON.parse(JSON.stringify(values)));
    expect(Object.keys(state.values as object)).toEqual(
      Object.keys(JSON.parse(JSON.stringify(values)) as object),
    );
  });
});
