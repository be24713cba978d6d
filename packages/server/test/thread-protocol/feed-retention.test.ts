// Feeds after the stored events of a run were deleted: all of them after SVC_STREAM_TTL, or the oldest ones when they are large.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chatInput } from '../chat-input.ts';
import { eventually } from '../eventually.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { command } from './command.ts';
import { isRunEnd, nthRunEnd, readFeed, type FeedEvent } from './feed.ts';

/** Keeps the events of runs for a second. */
let brief: TestServer;
let server: TestServer;
beforeAll(async () => {
  brief = await startTestServer({ settings: { streamTtl: '1s' } });
  server = await startTestServer();
});
afterAll(async () => {
  for (const node of [brief, server]) await node[Symbol.asyncDispose]();
});

const start = async (node: TestServer, thread_id: string, text: string): Promise<string> => {
  const params = { assistant_id: 'chat', input: chatInput(text) };
  const { result } = await command(node, thread_id, 'run.start', params);
  return String(result['run_id']);
};

/** `first_id`: the number of the oldest event that is stored; null when none is. */
const storedFrom = async (node: TestServer, run_id: string): Promise<number | null> => {
  const text = 'select min(first_id) as first_id from run_events where run_id = $1';
  const query = { name: 'stored_from', text };
  const [row] = await node.database.query<{ first_id: number | null }>(query, [run_id]);
  return row?.first_id ?? null;
};

const runOf = ({ event_id }: FeedEvent): string => event_id.split(':', 1)[0] ?? '';

it('a feed that is opened after SVC_STREAM_TTL has the runs that follow', async () => {
  const thread_id = randomUUID();
  const first = await start(brief, thread_id, 'one');
  const before = await readFeed(brief.url, thread_id, isRunEnd);
  await eventually(async () => expect(await storedFrom(brief, first)).toBeNull());

  const opened = readFeed(brief.url, thread_id, isRunEnd);
  const continued = readFeed(brief.url, thread_id, isRunEnd, { since: before[3]?.seq });
  await start(brief, thread_id, 'two');
  const events = await opened;
  expect(new Set(events.map(runOf))).toHaveLength(1);
  expect(runOf(events[0] as FeedEvent)).not.toBe(runOf(before[0] as FeedEvent));
  expect(events[0]?.params.data).toMatchObject({ event: 'running' });
  expect(events[0]?.seq).toBeGreaterThan(before.at(-1)?.seq ?? Infinity);
  const state = events.findLast(({ method }) => method === 'values')?.params.data['messages'];
  expect(state).toMatchObject(['one', 'echo one', 'two', 'echo two'].map((content) => ({ content })));
  expect(await continued).toEqual(events);
});

it('a feed without the first events of a run leaves its incomplete message out, and has the other events in order', async () => {
  const thread_id = randomUUID();
  const text = 'x'.repeat(12_000);
  const run_id = await start(server, thread_id, text);
  await server.call('GET', `/threads/${thread_id}/runs/${run_id}/join`);
  expect(await storedFrom(server, run_id)).toBeGreaterThan(0);
  await start(server, thread_id, 'short');

  const events = await readFeed(server.url, thread_id, nthRunEnd(2));
  const numbers = events.map(({ seq }) => seq);
  expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
  const [long = '', short] = new Set(events.map(runOf));
  const cut = events.filter((event) => runOf(event) === long);
  expect(cut[0]?.params.data).toMatchObject({ event: 'running', graph_name: 'chat' });
  expect(cut.at(-1)?.params.data).toMatchObject({ event: 'completed' });
  expect(cut.filter(({ method }) => method === 'messages')).toEqual([]);
  const state = cut.findLast(({ method }) => method === 'values')?.params.data;
  expect(state).toMatchObject({ messages: [{ content: text }, { content: `echo ${text}` }] });
  // The message of the next run is complete.
  const next = events.filter(({ method }) => method === 'messages');
  expect(new Set(next.map(runOf))).toEqual(new Set([short]));
  expect(next[0]?.params.data).toMatchObject({ event: 'message-start' });
  expect(next.at(-1)?.params.data).toMatchObject({ event: 'message-finish' });

  // A reader that was disconnected in the part that was deleted continues with what is left.
  const since = cut[0]?.seq;
  const rest = await readFeed(server.url, thread_id, nthRunEnd(2), { since });
  expect(rest).toEqual(events.slice(1));
});
