// Feeds after the oldest stored events of a large run were deleted.
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { chatInput } from '../chat-input.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { command } from './command.ts';
import { type FeedEvent, isRunEnd, nthRunEnd, readFeed } from './feed.ts';

const start = async (server: TestServer, thread_id: string, text: string): Promise<string> => {
  const params = { assistant_id: 'chat', input: chatInput(text) };
  const { result } = await command(server, thread_id, 'run.start', params);
  return String(result['run_id']);
};

const isStart = ({ event_id }: FeedEvent): boolean =>
  event_id.startsWith('synth:') && event_id.endsWith(':begin');

it('a feed without the first events of a run leaves its incomplete message out, and has the other events in order', async () => {
  await using server = await startTestServer();
  const thread_id = randomUUID();
  const text = 'x'.repeat(12_000);
  const run_id = await start(server, thread_id, text);
  await server.call('GET', `/threads/${thread_id}/runs/${run_id}/join`);
  const first = {
    name: 'stored_from',
    text: 'select min(first_id) as first_id from run_events where run_id = $1',
  };
  const [row] = await server.database.query<{ first_id: number }>(first, [run_id]);
  expect(row?.first_id).toBeGreaterThan(0);
  await start(server, thread_id, 'short');

  const events = await readFeed(server.url, thread_id, nthRunEnd(2));
  const numbers = events.map(({ seq }) => seq);
  expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
  const secondStart = events.findLastIndex(isStart);
  const cut = events.slice(0, secondStart);
  expect(cut[0]?.params.data).toMatchObject({ event: 'running', graph_name: 'chat' });
  expect(cut.filter(({ method }) => method === 'messages')).toEqual([]);
  const state = cut.findLast(({ method }) => method === 'values')?.params.data;
  expect(state).toMatchObject({ messages: [{ content: text }, { content: `echo ${text}` }] });
  // The message of the next run is complete.
  const next = events.filter(({ method }) => method === 'messages');
  expect(next.every((event) => events.indexOf(event) > secondStart)).toBe(true);
  expect(next[0]?.params.data).toMatchObject({ event: 'message-start' });
  expect(next.at(-1)?.params.data).toMatchObject({ event: 'message-finish' });

  // A reader that was disconnected in the part that was deleted continues with what is left.
  const since = cut[0]?.seq;
  // It has seen the begin of the first run before.
  const rest = await readFeed(server.url, thread_id, nthRunEnd(1), { since });
  const itsEnd = rest.findIndex(isRunEnd);
  expect(rest[itsEnd]?.params.data).toMatchObject({ event: 'completed' });
  expect(rest.toSpliced(itsEnd, 1)).toEqual(events.slice(1));
});
