// GET /threads/{thread_id}/runs/{run_id}/timeline: when a run waited, and when it executed.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Run, RunTimeline } from '@svc/contract';
import { eventually } from '../eventually.ts';
import { startTestServer, type TestServer } from '../server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ executors: 'ready' });
});
afterAll(() => server[Symbol.asyncDispose]());

const create = async (thread_id: string, body: object): Promise<Run> => {
  const run = { assistant_id: 'chat', input: { messages: [] }, if_not_exists: 'create', ...body };
  return (await server.call('POST', `/threads/${thread_id}/runs`, run)).body as Run;
};
const join = ({ thread_id, run_id }: Run) => server.call('GET', `/threads/${thread_id}/runs/${run_id}/join`);
const timelineOf = async ({ thread_id, run_id }: Run): Promise<RunTimeline> => {
  const { status, body } = await server.call('GET', `/threads/${thread_id}/runs/${run_id}/timeline`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body as RunTimeline;
};

it('names the steps of a run, and the nodes of each', async () => {
  const run = await create(randomUUID(), {});
  await join(run);
  const timeline = await timelineOf(run);
  expect(timeline).toMatchObject({ run_id: run.run_id, status: 'success', waits: [], executing: [] });
  expect(timeline.attempts).toMatchObject([{ attempt: 1, outcome: 'ended' }]);
  expect(timeline.steps.map(({ step, source }) => [step, source])).toEqual([
    [-1, 'input'],
    [0, 'loop'],
    [1, 'loop'],
  ]);
  expect(timeline.steps.at(-1)?.nodes).not.toEqual([]);
  for (const { from, to } of timeline.steps) expect(from <= to).toBe(true);
  const read = (await server.call('GET', `/threads/${run.thread_id}/runs/${run.run_id}`)).body as Run;
  expect(read).toMatchObject({ started_at: timeline.attempts[0]?.from, ended_at: timeline.ended_at });
});

it('names the node in which a cancelled run has stopped', async () => {
  const run = await create(randomUUID(), { assistant_id: 'probe', input: { do: 'waitForAbort' } });
  await eventually(async () => expect((await timelineOf(run)).executing).toEqual(['act']));
  await server.call('POST', `/threads/${run.thread_id}/runs/${run.run_id}/cancel?wait=1`);
  expect(await timelineOf(run)).toMatchObject({ status: 'interrupted', executing: ['act'] });
});

it('names a node that has written nothing', async () => {
  const run = await create(randomUUID(), { assistant_id: 'quiet', input: { out: 1 } });
  await join(run);
  const { steps } = await timelineOf(run);
  expect(steps.map(({ nodes }) => nodes)).toEqual([[], ['__start__'], ['wait'], ['speak']]);
});

it('says which run of the thread a run waited for', async () => {
  const thread_id = randomUUID();
  const first = await create(thread_id, { assistant_id: 'probe', input: { do: 'hang' } });
  const second = await create(thread_id, {});
  await eventually(async () => expect((await timelineOf(first)).status).toBe('running'));
  expect((await timelineOf(second)).waits).toMatchObject([{ reason: 'thread', run_id: first.run_id }]);
  await server.call('POST', `/threads/${thread_id}/runs/${first.run_id}/cancel?wait=1`);
  await join(second);
  const { waits, attempts } = await timelineOf(second);
  expect(waits[0]).toMatchObject({ reason: 'thread', run_id: first.run_id, to: expect.any(String) });
  expect(attempts).toMatchObject([{ outcome: 'ended' }]);
});

it('ends the wait for a time with the cancellation of the run', async () => {
  const thread_id = randomUUID();
  const first = await create(thread_id, { after_seconds: 3_600 });
  const waiting = await timelineOf(first);
  expect(waiting.waits).toEqual([{ reason: 'time', from: waiting.created_at }]);
  expect(waiting).toMatchObject({ status: 'pending', attempts: [], steps: [], has_earlier_steps: false });
  await server.call('POST', `/threads/${thread_id}/runs/${first.run_id}/cancel?wait=1`);
  const cancelled = await timelineOf(first);
  expect(cancelled).toMatchObject({ status: 'interrupted', attempts: [] });
  expect(cancelled.waits).toEqual([{ reason: 'time', from: cancelled.created_at, to: cancelled.ended_at }]);
});

it('is not found for a run of another thread', async () => {
  const run = await create(randomUUID(), {});
  const path = `/threads/${randomUUID()}/runs/${run.run_id}/timeline`;
  expect((await server.call('GET', path)).status).toBe(404);
});
