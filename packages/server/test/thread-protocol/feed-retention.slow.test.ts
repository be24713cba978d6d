// Feeds after the oldest stored events of a large run were deleted.
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { chatInput } from '../chat-input.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { command } from './command.ts';
import { type FeedEvent, nthRunEnd, readFeed } from './feed.ts';

const start = async (server: TestServer, thread_id: string, text: string): Promise<string> => {
  const params = { assistant_id: 'chat', input: chatInput(text) };
  const { result } = await command(server, thread_id, 'run.start', params);
  return String(result['run_id']);
};

const runOf = ({ event_id }: FeedEvent): string => event_id.split(':', 1)[0] ?? '';

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
