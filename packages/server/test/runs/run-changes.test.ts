// GET /runs/changes: notifications of changed runs.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { testDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { startTestServer } from '../server.ts';
import { openChanges } from './run-change-client.ts';
import { fixture } from '../fixture.ts';

const database = fixture(() => testDatabase());
const server = fixture(() => startTestServer({ database }));

const start = async (body: object = {}, on = server) => {
  const run = { assistant_id: 'chat', input: { messages: [] }, if_not_exists: 'create', ...body };
  const { body: made, status } = await on.call('POST', `/threads/${randomUUID()}/runs`, run);
  expect(status, JSON.stringify(made)).toBe(200);
  return made as { thread_id: string; run_id: string };
};

describe('changes of runs', () => {
  it('begin with a notification without threads, and name the thread of a run that is created and cancelled', async () => {
    await using changes = await openChanges(server.url);
    const { thread_id, run_id } = await start({ after_seconds: 3_600 });
    await eventually(() => expect(changes.notifications).toEqual([null, [thread_id]]));
    const cancelled = await server.call('POST', `/threads/${thread_id}/runs/${run_id}/cancel?wait=1`);
    expect(cancelled.status).toBeLessThan(300);
    await eventually(() => expect(changes.notifications).toEqual([null, [thread_id], [thread_id]]));
  });

  it('of runs that another server process creates are notified', async () => {
    await using other = await startTestServer({ database, executors: 'none' });
    await using changes = await openChanges(other.url);
    await changes.named((await start()).thread_id);
    await using opposite = await openChanges(server.url);
    await opposite.named((await start({}, other)).thread_id);
  });

  it('end when the server drains, and are refused afterwards', async () => {
    await using other = await startTestServer({ database, executors: 'none' });
    await using changes = await openChanges(other.url);
    await other.drain(AbortSignal.abort());
    await eventually(() => expect(changes.isEnded()).toBe(true));
    const refused = await other.call('GET', '/runs/changes');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
  });
});
