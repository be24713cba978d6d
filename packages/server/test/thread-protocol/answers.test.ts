// Event `input.answered`: every client of a thread learns which interrupts a run answers, whoever has sent the answer.
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@langchain/langgraph-sdk';
import { StreamController } from '@langchain/langgraph-sdk/stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { command } from './command.ts';
import { isRunEnd, readFeed, type FeedEvent } from './feed.ts';

let server: TestServer;
let other: TestServer;
let client: Client;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-answers-'));
  const project = join(folder, 'svc.json');
  const file = (name: string) => fileURLToPath(new URL(`../graphs/${name}.ts`, import.meta.url));
  const graphs = {
    approval: `${file('approval')}:approval`,
    questions: `${file('approval')}:questions`,
    twice: `${file('continued')}:twice`,
  };
  await writeFile(project, JSON.stringify({ graphs }));
  server = await startTestServer({ project });
  other = await startTestServer({ project, database: server.database });
  client = new Client({ apiUrl: server.url });
});
afterAll(async () => {
  await other[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const afterRuns = (count: number) => {
  let ended = 0;
  return (event: FeedEvent): boolean => isRunEnd(event) && ++ended === count;
};

/** A thread that waits at interrupts, and their ids. */
const waiting = async (assistant_id: string) => {
  const thread_id = randomUUID();
  await command(server, thread_id, 'run.start', { assistant_id, input: { log: [] } });
  const events = await readFeed(server.url, thread_id, isRunEnd);
  const asked = events.filter(({ method }) => method === 'input.requested');
  return { thread_id, ids: asked.map(({ params }) => String(params.data['interrupt_id'])) };
};

const answersIn = (events: FeedEvent[]): unknown[] =>
  events
    .filter(({ method }) => method === 'input.answered')
    .map(({ params }) => params.data['interrupt_ids']);

/** The events of the thread up to the end of its second run. */
const answeredThread = (thread_id: string, url = server.url): Promise<FeedEvent[]> =>
  readFeed(url, thread_id, afterRuns(2));

describe('a run that answers', () => {
  it('reports the interrupts that its command names, after its beginning', async () => {
    const { thread_id, ids } = await waiting('questions');
    const [interrupt_id] = ids;
    await command(server, thread_id, 'input.respond', { interrupt_id, response: 'one' });
    const events = await answeredThread(thread_id);
    expect(answersIn(events)).toEqual([[interrupt_id]]);
    const at = events.findIndex(({ method }) => method === 'input.answered');
    expect(events[at - 1]?.params.data).toMatchObject({ event: 'running' });
    expect(events[at]).toMatchObject({ params: { namespace: [] } });
  });

  it('reports all interrupts when its command has one value', async () => {
    const { thread_id, ids } = await waiting('questions');
    await client.runs.wait(thread_id, 'questions', { command: { resume: 'all' } });
    expect(await client.threads.getState(thread_id)).toMatchObject({ next: [] });
    const events = await readFeed(server.url, thread_id, ({ method }) => method === 'input.answered');
    expect(answersIn(events)).toEqual([ids]);
  });

  it('reports the interrupt when its input is the answer', async () => {
    const { thread_id, ids } = await waiting('approval');
    await command(server, thread_id, 'run.start', { assistant_id: 'approval', input: 'yes' });
    expect(answersIn(await answeredThread(thread_id))).toEqual([ids]);
  });

  it('has the same event on every node, during the run and after it', async () => {
    const { thread_id, ids } = await waiting('approval');
    const during = [server, other].map(({ url }) => answeredThread(thread_id, url));
    await command(other, thread_id, 'input.respond', { interrupt_id: ids[0], response: 'yes' });
    const [first, ...rest] = await Promise.all([...during, answeredThread(thread_id)]);
    expect(answersIn(first!)).toEqual([ids]);
    for (const events of rest) expect(events).toEqual(first);
  });
});

it('a run that answers nothing reports nothing', async () => {
  const { thread_id } = await waiting('approval');
  await client.runs.wait(thread_id, 'approval', { command: { goto: 'act' } });
  const { thread_id: next } = await waiting('approval');
  await client.threads.updateState(next, { values: { log: ['changed'] } });
  for (const id of [thread_id, next]) expect(answersIn(await readFeed(server.url, id, isRunEnd))).toEqual([]);
});

/** A page of the thread, as `useStream` has it. */
const openPage = async (assistantId: string, thread_id: string) => {
  const page = new StreamController({ assistantId, client, threadId: thread_id });
  const close = page.activate();
  await page.hydrate(thread_id);
  let runs = 0;
  page.getThread()?.onEvent((event) => {
    if (isRunEnd(event as unknown as FeedEvent)) runs++;
  });
  return {
    page,
    /** Waits until the page shows exactly these interrupts. */
    asks: (...values: unknown[]) =>
      eventually(() =>
        expect(page.rootStore.getSnapshot().interrupts.map(({ value }) => value)).toEqual(values),
      ),
    /** Waits until the page has got the end of the nth run. */
    hasSeen: (count: number) => eventually(() => expect(runs).toBe(count)),
    [Symbol.dispose]: close,
  };
};

describe('a page that shows an interrupt', () => {
  it('hides it when another page answers', async () => {
    const { thread_id, ids } = await waiting('approval');
    using here = await openPage('approval', thread_id);
    using there = await openPage('approval', thread_id);
    for (const { asks } of [here, there]) await asks({ question: 'send?' });
    await here.page.respond('yes', { interruptId: ids[0]! });
    await there.asks();
  });

  it('hides only those that another page answers', async () => {
    const { thread_id, ids } = await waiting('questions');
    using here = await openPage('questions', thread_id);
    using there = await openPage('questions', thread_id);
    for (const { asks } of [here, there]) await asks('first?', 'second?');
    await here.page.respond('one', { interruptId: ids[0]! });
    await there.asks('second?');
  });

  it('shows it when the node asks again, also to a page that is opened then', async () => {
    const { thread_id, ids } = await waiting('twice');
    using here = await openPage('twice', thread_id);
    using there = await openPage('twice', thread_id);
    for (const { asks } of [here, there]) await asks('first?');
    await here.page.respond('one', { interruptId: ids[0]! });
    await here.asks('second?');
    await there.hasSeen(2);
    await there.asks('second?');
    using later = await openPage('twice', thread_id);
    await later.hasSeen(2);
    await later.asks('second?');
  });
});
