// `input.answered` of thread protocol v2: readers of a thread learn that another client has answered its interrupts.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../server.ts';
import { command } from './command.ts';
import { type FeedEvent, isRunEnd, nthRunEnd, openFeed, readFeed } from './feed.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const answersIn = (events: FeedEvent[]): unknown[] =>
  events.filter(({ method }) => method === 'input.answered').map(({ params }) => params.data);

/** A thread that waits at an interrupt. */
const interrupted = async (assistant_id = 'approval') => {
  const thread_id = randomUUID();
  await command(server, thread_id, 'run.start', { assistant_id, input: { log: [] } });
  const events = await readFeed(server.url, thread_id, isRunEnd);
  const asked = events.find(({ method }) => method === 'input.requested')!;
  return { thread_id, interrupt_id: String(asked.params.data['interrupt_id']), events };
};

/** Expects that the thread waits at the interrupt. */
const expectWaiting = async (thread_id: string, interrupt_id: string) => {
  const { body } = await server.call('GET', `/threads/${thread_id}/state`);
  expect(body).toMatchObject({ tasks: [{ interrupts: [{ id: interrupt_id }] }] });
};

const read = (thread_id: string) => readFeed(server.url, thread_id, nthRunEnd(2));
const open = (thread_id: string, { url } = server) => openFeed(url, thread_id, nthRunEnd(2));

it('is sent when the run that answers starts, to readers that were there before and to later ones', async () => {
  const { thread_id, interrupt_id } = await interrupted();
  const reader = await open(thread_id);
  await command(server, thread_id, 'input.respond', { namespace: [], interrupt_id, response: 'yes' });
  const events = await reader.events;
  const at = events.findIndex(({ method }) => method === 'input.answered');
  expect(events[at]).toMatchObject({ params: { namespace: [], data: { interrupt_ids: [interrupt_id] } } });
  expect(events[at - 1]).toMatchObject({
    method: 'lifecycle',
    seq: events[at]!.seq - 1,
    params: { namespace: [], data: { event: 'running' } },
  });
  expect(events.map(({ seq }) => seq)).toEqual(events.map(({ seq }) => seq).toSorted((a, b) => a - b));
  expect(await read(thread_id)).toEqual(events);
});

it('names the interrupt of a subgraph in the namespace of the root', async () => {
  const { thread_id, interrupt_id } = await interrupted('nested');
  await command(server, thread_id, 'input.respond', { namespace: [], interrupt_id, response: 'yes' });
  const events = await read(thread_id);
  expect(answersIn(events)).toEqual([{ interrupt_ids: [interrupt_id] }]);
  expect(events.find(({ method }) => method === 'input.answered')?.params.namespace).toEqual([]);
});

it.each([
  ['a value', 'yes'],
  ['false', false],
  ['an object', { approved: true }],
])('is sent for a run of the REST API that resumes with %s', async (_, resume) => {
  const { thread_id, interrupt_id } = await interrupted();
  const reader = await open(thread_id);
  await server.call('POST', `/threads/${thread_id}/runs`, { assistant_id: 'approval', command: { resume } });
  expect(answersIn(await reader.events)).toEqual([{ interrupt_ids: [interrupt_id] }]);
});

it('is sent when the input of run.start is the answer', async () => {
  const { thread_id, interrupt_id } = await interrupted();
  await command(server, thread_id, 'run.start', { assistant_id: 'approval', input: 'yes' });
  expect(answersIn(await read(thread_id))).toEqual([{ interrupt_ids: [interrupt_id] }]);
});

it('is not sent for runs that resume nothing', async () => {
  const { thread_id, events } = await interrupted();
  expect(answersIn(events)).toEqual([]);
  const body = { assistant_id: 'approval', input: { log: ['again'], resume: 'a value of the input' } };
  const reader = await open(thread_id);
  await server.call('POST', `/threads/${thread_id}/runs`, body);
  expect(answersIn(await reader.events)).toEqual([]);
});

it('is sent to readers of the channel `input` only', async () => {
  const { thread_id, interrupt_id } = await interrupted();
  await command(server, thread_id, 'input.respond', { namespace: [], interrupt_id, response: 'yes' });
  const channels = ['lifecycle'];
  const events = await readFeed(server.url, thread_id, nthRunEnd(2), { channels });
  expect(answersIn(events)).toEqual([]);
  const inputs = await readFeed(server.url, thread_id, ({ method }) => method === 'input.answered', {
    channels: ['input'],
  });
  expect(inputs.map(({ method }) => method)).toEqual(['input.requested', 'input.answered']);
});

it('is not sent to later readers when the run has failed and the thread waits at the interrupt again', async () => {
  const { thread_id, interrupt_id } = await interrupted();
  // The node fails when it makes a text of this answer.
  const answer = { namespace: [], interrupt_id, response: { toString: null } };
  await command(server, thread_id, 'input.respond', answer);
  await read(thread_id);
  await expectWaiting(thread_id, interrupt_id);
  expect(answersIn(await read(thread_id))).toEqual([]);
});

it('is not sent to later readers when the run was cancelled after a reader got it', async () => {
  const { thread_id, interrupt_id } = await interrupted();
  const answer = { namespace: [], interrupt_id, response: 'hold' };
  await command(server, thread_id, 'input.respond', answer);
  const events = await readFeed(server.url, thread_id, ({ method }) => method === 'input.answered');
  expect(answersIn(events)).toEqual([{ interrupt_ids: [interrupt_id] }]);
  const { body } = await server.call('GET', `/threads/${thread_id}/runs?status=running`);
  const [{ run_id }] = body as [{ run_id: string }];
  const { status } = await server.call('POST', `/threads/${thread_id}/runs/${run_id}/cancel?wait=1`);
  expect(status).toBe(204);
  expect(answersIn(await read(thread_id))).toEqual([]);
  await expectWaiting(thread_id, interrupt_id);
});

it('is the same on every node', async () => {
  await using other = await startTestServer({ database: server.database });
  const { thread_id, interrupt_id } = await interrupted();
  const reader = await open(thread_id, other);
  await command(server, thread_id, 'input.respond', { namespace: [], interrupt_id, response: 'yes' });
  expect(await reader.events).toEqual(await read(thread_id));
});
