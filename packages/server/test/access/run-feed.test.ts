// The feed of runs of two users: nothing that a user does is in the feed of another one.
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { openFeed } from '../runs/feed/feed-client.ts';
import { startTestServer, type TestServer } from '../server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    project: fileURLToPath(new URL('./project/svc.json', import.meta.url)),
  });
});
afterAll(() => server[Symbol.asyncDispose]());

const open = (user: string, body: object, lastEventId?: string) =>
  openFeed(server.url, body, { lastEventId, headers: { authorization: `Bearer ${user}` } });

/** Starts a run and returns its id. */
const start = async (user: string, thread_id: string | null): Promise<string> => {
  const run = {
    assistant_id: 'probe',
    metadata: { mark: 'both' },
    input: { action: 'user' },
    if_not_exists: 'create',
  };
  const { if_not_exists: _, ...stateless } = run;
  const { body, status } = await server.call(
    'POST',
    thread_id === null ? '/runs' : `/threads/${thread_id}/runs`,
    thread_id === null ? stateless : run,
    { authorization: `Bearer ${user}` },
  );
  expect(status, JSON.stringify(body)).toBe(200);
  return (body as { run_id: string }).run_id;
};

it('the feed of a user has no run of another user, whatever is asked for', async () => {
  const thread_id = randomUUID();
  const filters = [{}, { metadata: { mark: 'both' } }, { thread_id }];
  await using hers = await open('alice', {});
  await hers.first('position');
  const his = await Promise.all(filters.map((filter) => open('bob', filter)));
  for (const feed of his) await feed.first('position');
  const run = await start('alice', thread_id);
  await start('alice', null);
  await eventually(() => expect(hers.states(run).at(-1)).toBe('success'));
  // With a position of her feed he reads on in his own.
  const taken = await Promise.all(filters.map((filter) => open('bob', filter, hers.events[0]?.id)));
  const own = await start('bob', randomUUID());
  for (const feeds of [his, taken])
    for (const at of [0, 1]) await eventually(() => expect(feeds[at]?.states(own).at(-1)).toBe('success'));
  for (const feed of [...his, ...taken]) {
    expect(feed.runs().filter(({ run_id }) => run_id !== own)).toEqual([]);
    expect(JSON.stringify(feed.events)).not.toContain(thread_id);
    await feed.close();
  }
});
