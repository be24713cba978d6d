// Updates of the state of a subgraph, by the checkpoint of the task that runs it. The bare engine gives the expected results.
import { MemorySaver, type StateSnapshot } from '@langchain/langgraph';
import { Client, type ThreadState } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withCheckpointer } from '../engine-copy.ts';
import { nested } from '../graphs/nested.ts';
import { startTestServer, type TestServer } from '../server.ts';

let server: TestServer;
let client: Client;
beforeAll(async () => {
  server = await startTestServer();
  client = new Client({ apiUrl: server.url });
});
afterAll(() => server?.[Symbol.asyncDispose]());

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
  const { thread_id } = await client.threads.create();
  await client.runs.wait(thread_id, 'nested', { input: { log: [] } });
  const state = await client.threads.getState(thread_id, undefined, { subgraphs: true });
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
    await client.threads.updateState(thread_id, {
      values,
      checkpoint: { thread_id, checkpoint_ns, checkpoint_id },
      ...(asNode === undefined ? {} : { asNode }),
    } as never);
    const want = await expected(asNode);
    expect(want.next).toEqual(['ask']);

    const { checkpoint: at } = await client.threads.getState(thread_id, { checkpoint_ns } as never);
    expect(at.checkpoint_id).not.toBe(checkpoint_id);
    expect(seen(await client.threads.getState(thread_id, { checkpoint_ns } as never))).toEqual(want);
    const nestedIn = await client.threads.getState(thread_id, undefined, { subgraphs: true });
    expect(nestedIn.next).toEqual(['inner']);
    expect(seen(nestedIn.tasks[0]?.state as ThreadState)).toEqual(want);
    const history = await client.threads.getHistory(thread_id, { checkpoint: { checkpoint_ns } as never });
    expect(history[0]?.next).toEqual(want.next);
    expect(history[0]?.metadata).toMatchObject({ source: 'update', writes: { [asNode ?? '']: values } });

    expect((await client.threads.get(thread_id)).status).toBe('interrupted');
    const done = await client.runs.wait(thread_id, 'nested', { command: { resume: 'yes' } });
    expect(done).toEqual({ log: ['deep', 'edited', 'asked yes'] });
  });
});
