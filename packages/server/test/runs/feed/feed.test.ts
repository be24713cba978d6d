// POST /runs/feed: changes of runs across threads.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toCursor } from '../../../src/api/cursor.ts';
import { testDatabase, type TestDatabase } from '../../database.ts';
import { eventually } from '../../eventually.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { openFeed, type FedRun } from './feed-client.ts';

let database: TestDatabase;
let server: TestServer;
beforeAll(async () => {
  database = await testDatabase();
  server = await startTestServer({ database });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const start = async (body: object = {}, on = server): Promise<FedRun> => {
  const run = { assistant_id: 'chat', input: { messages: [] }, if_not_exists: 'create', ...body };
  const { body: made, status } = await on.call('POST', `/threads/${randomUUID()}/runs`, run);
  expect(status, JSON.stringify(made)).toBe(200);
  return made as FedRun;
};
const pending = { after_seconds: 3_600 };
const cancel = ({ thread_id, run_id }: FedRun) =>
  server.call('POST', `/threads/${thread_id}/runs/${run_id}/cancel?wait=1`);
/** Ends a run that `pending` has created. */
const end = async (run: FedRun) => expect((await cancel(run)).status).toBeLessThan(300);

describe('the feed of runs', () => {
  it('begins with a position, and sends a run when it is created and when it has ended', async () => {
    await using feed = await openFeed(server.url);
    await feed.first('position');
    const run = await start();
    await eventually(() => expect(feed.states(run.run_id).at(-1)).toBe('success'));
    expect(feed.events[0]?.event).toBe('position');
    const { kwargs: _, ...searched } = (
      (await server.call('POST', '/runs/search', { thread_id: run.thread_id })).body as [
        FedRun & { kwargs: unknown },
      ]
    )[0];
    expect(feed.runs().at(-1)).toEqual(searched);
  });

  it('sends each state of a run once', async () => {
    await using feed = await openFeed(server.url);
    await feed.first('position');
    const run = await start(pending);
    await eventually(() => expect(feed.states(run.run_id)).toEqual(['pending']));
    await end(run);
    await eventually(() => expect(feed.states(run.run_id)).toEqual(['pending', 'interrupted']));
    const later = await start(pending);
    await eventually(() => expect(feed.states(later.run_id)).toEqual(['pending']));
    expect(feed.states(run.run_id)).toEqual(['pending', 'interrupted']);
  });

  it('sends the runs that match the filter, with the selected fields', async () => {
    const mark = randomUUID();
    await using feed = await openFeed(server.url, { metadata: { mark }, select: ['status'] });
    await using ended = await openFeed(server.url, { metadata: { mark }, status: 'interrupted' });
    await Promise.all([feed.first('position'), ended.first('position')]);
    const other = await start(pending);
    const run = await start({ ...pending, metadata: { mark } });
    await end(run);
    await eventually(() => expect(feed.states(run.run_id).at(-1)).toBe('interrupted'));
    await eventually(() => expect(ended.states(run.run_id)).toEqual(['interrupted']));
    expect(feed.states(other.run_id)).toEqual([]);
    expect(Object.keys(feed.runs()[0] ?? {}).sort()).toEqual(['run_id', 'status']);
  });

  it('continues after the last event without loss and without repetition', async () => {
    const first = await openFeed(server.url);
    await first.first('position');
    const before = await start(pending);
    await eventually(() => expect(first.states(before.run_id)).toEqual(['pending']));
    await first.close();
    const missed = await Promise.all([start(pending), start(pending)]);
    await using second = await openFeed(server.url, {}, { lastEventId: first.lastId() });
    for (const { run_id } of missed)
      await eventually(() => expect(second.states(run_id)).toEqual(['pending']));
    await end(before);
    await eventually(() => expect(second.states(before.run_id)).toEqual(['interrupted']));
    expect(second.events.filter(({ event }) => event === 'gap')).toEqual([]);
    const versions = second.runs().map(({ run_id, updated_at }) => `${run_id} ${updated_at}`);
    expect(new Set(versions).size).toBe(versions.length);
  });

  it.each([
    ['is too old', toCursor({ start_time: '2026-01-31T12:00:00.000000Z', id: '' })],
    ['is in the future', toCursor({ start_time: '2999-01-31T12:00:00.000000Z', id: '' })],
    ['is that of another stream', '17'],
  ])('sends a gap, and continues, when the last event id %s', async (_, lastEventId) => {
    await using feed = await openFeed(server.url, {}, { lastEventId });
    await feed.first('gap');
    const run = await start(pending);
    await eventually(() => expect(feed.states(run.run_id)).toEqual(['pending']));
    expect(feed.events[0]?.event).toBe('gap');
  });

  it('sends runs of another server process, which continues the feed as well', async () => {
    await using other = await startTestServer({ database, executors: 'none' });
    const feed = await openFeed(server.url);
    await feed.first('position');
    const run = await start({}, other);
    await eventually(() => expect(feed.states(run.run_id).at(-1)).toBe('success'));
    await feed.close();
    const missed = await start(pending);
    await using continued = await openFeed(other.url, {}, { lastEventId: feed.lastId() });
    await eventually(() => expect(continued.states(missed.run_id)).toEqual(['pending']));
    expect(continued.states(run.run_id)).toEqual([]);
  });

  it('ends when the server drains, and is refused afterwards', async () => {
    await using other = await startTestServer({ database, executors: 'none' });
    await using feed = await openFeed(other.url);
    await feed.first('position');
    await other.drain(AbortSignal.abort());
    await eventually(() => expect(feed.isEnded()).toBe(true));
    const refused = await other.call('POST', '/runs/feed', {});
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
  });

  it.each([
    ['an unknown status', { status: 'lost' }, /status/],
    ['the input', { select: ['kwargs'] }, /select/],
    ['a day that does not exist', { created_after: '2026-02-30T00:00:00Z' }, /created_after/],
    ['an unknown filter', { colour: 'red' }, /colour/],
  ])('is refused for %s', async (_, body, message) => {
    const answer = await server.call('POST', '/runs/feed', body);
    expect(answer.status).toBe(422);
    expect(JSON.stringify(answer.body)).toMatch(message);
  });
});
