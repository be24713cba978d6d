// The order of events in a stream, and which modes carry what, as the stock server sends them.
import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@langchain/langgraph-sdk';
import type { Run, RunTimeline } from '@svc/contract';
import { describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { fixture } from '../fixture.ts';
import { untilOneWaits } from '../lock-waiters.ts';
import { startTestServer } from '../server.ts';
import { scaled } from '../speed.ts';
import { readTokensAtOnce } from './tokens-at-once.ts';

const server = fixture(() => startTestServer({ executors: 'ready' }));
const client = fixture(() => new Client({ apiUrl: server.url }));
const input = { messages: [{ role: 'user', content: 'hello' }] };

type Mode = 'values' | 'messages' | 'messages-tuple' | 'events' | 'custom';

const streamed = async (streamMode: Mode[], graph = 'chat', streamSubgraphs = false) => {
  const seen: { event: string; data: unknown }[] = [];
  const stream = client.runs.stream(null, graph, { input, streamMode, streamSubgraphs });
  for await (const { event, data } of stream) seen.push({ event, data });
  return seen;
};

describe('a run that is created while its server claims waiting runs', () => {
  /** Every claim waits for an advisory lock before it looks for runs. */
  const claimsWait = [
    'alter function claim_runs rename to claim_runs_at_once',
    `create function claim_runs(integer, uuid, interval, integer, text[], uuid[], integer[]) returns setof runs language plpgsql as $$
    begin
      perform pg_advisory_xact_lock(1);
      return query select * from claim_runs_at_once($1, $2, $3, $4, $5, $6, $7);
    end $$`,
  ];

  it('starts at once', async () => {
    const { database } = server;
    await database.transact(async (tx) => {
      await tx.query({ text: 'select pg_advisory_xact_lock(1)' }, []);
      for (const text of claimsWait) await database.query({ text }, []);
      await untilOneWaits(database);
      const { thread_id } = await client.threads.create();
      expect(await client.runs.create(thread_id, 'chat', { input })).toMatchObject({ status: 'running' });
    });
  });
});

describe('a stream', () => {
  it('has the events of a node while it executes in one turn of the event loop', async () => {
    const file = join(tmpdir(), randomUUID());
    const input = { do: 'emitUntil', ms: scaled(50_000), out: file };
    const { thread_id } = await client.threads.create();
    try {
      for await (const { event } of client.runs.stream(thread_id, 'probe', { input, streamMode: ['custom'] }))
        if (event === 'custom') writeFileSync(file, '');
    } finally {
      rmSync(file, { force: true });
    }
    expect((await client.threads.getState(thread_id)).values).toMatchObject({ out: 'read' });
  });

  it('sends messages/complete after the values that contain the messages', async () => {
    const seen = (await streamed(['values', 'messages'])).filter(
      ({ event }) => event !== 'messages/metadata',
    );
    const ofValues = seen.flatMap(({ event, data }, at) => {
      const before = seen[at - 1];
      if (event !== 'messages/complete' || before?.event !== 'values') return [];
      const { messages } = before.data as { messages: { id: string }[] };
      return [[(data as { id: string }[]).map(({ id }) => id), messages.slice(-1).map(({ id }) => id)]];
    });
    expect(ofValues.length).toBeGreaterThan(0);
    for (const [complete, last] of ofValues) expect(complete).toEqual(last);
    expect(seen.at(-1)?.event).toBe('messages/complete');
  });

  it('has every token of a model that never waits, also in runs that are executed at once', () =>
    readTokensAtOnce(client, 1));

  it('has the events of nodes and models in the mode events, and not the chunks of the run itself', async () => {
    const seen = await streamed(['events', 'values']);
    const { run_id: runId } = (seen[0] ?? { data: {} }).data as { run_id?: string };
    const events = seen
      .filter(({ event }) => event === 'events')
      .map(({ data }) => data as { event: string; run_id: string });
    const own = events.filter(({ run_id }) => run_id === runId).map(({ event }) => event);
    expect(own).toEqual(['on_chain_start', 'on_chain_end']);
    expect(events.map(({ event }) => event)).toContain('on_chat_model_stream');
    expect(seen.filter(({ event }) => event === 'values').length).toBeGreaterThan(0);
  });

  it('names the subgraph of tokens and custom events with subgraphs', async () => {
    const seen = await streamed(['messages-tuple', 'custom'], 'layers', true);
    const names = seen.map(({ event }) => event.replace(/:.*/, ''));
    const tokens = Array.from('deep', () => 'messages|sub');
    expect(names).toEqual(['metadata', 'custom|sub', ...tokens, 'messages']);
  });

  it('has the custom events of subgraphs without subgraphs, and their messages as those of the node', async () => {
    const seen = await streamed(['messages-tuple', 'custom'], 'layers');
    expect(seen.map(({ event }) => event)).toEqual(['metadata', 'custom', 'messages', 'messages']);
    const messages = seen
      .slice(2)
      .map(({ data }) => data as [{ content: string }, { langgraph_node: string }]);
    expect(messages.map(([{ content }, { langgraph_node: node }]) => [content, node])).toEqual([
      ['deep', 'sub'],
      ['over', 'last'],
    ]);
  });

  it.each([false, true])(
    'has the tokens of all models in the mode messages (with subgraphs: %s)',
    async (subgraphs) => {
      const seen = await streamed(['messages'], 'layers', subgraphs);
      const parts = seen.map(({ event, data }) => {
        const [message] = Array.isArray(data) ? (data as { content: string }[]) : [];
        return [event, ...(message ? [message.content] : [])];
      });
      expect(parts).toEqual([
        ['metadata'],
        ['messages/complete', 'hello'],
        ['messages/metadata'],
        ...['d', 'de', 'dee', 'deep'].map((text) => ['messages/partial', text]),
        ['messages/complete', 'deep'],
        ['messages/complete', 'over'],
      ]);
    },
  );
});

// GET /threads/{thread_id}/runs/{run_id}/timeline: when a run waited, and when it executed.

const create = async (thread_id: string, body: object): Promise<Run> => {
  const run = { assistant_id: 'chat', input: { messages: [] }, if_not_exists: 'create', ...body };
  return (await server.call('POST', `/threads/${thread_id}/runs`, run)).body as Run;
};

const joinRun = ({ thread_id, run_id }: Run) =>
  server.call('GET', `/threads/${thread_id}/runs/${run_id}/join`);

const timelineOf = async ({ thread_id, run_id }: Run): Promise<RunTimeline> => {
  const { status, body } = await server.call('GET', `/threads/${thread_id}/runs/${run_id}/timeline`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body as RunTimeline;
};

it('names the steps of a run, and the nodes of each', async () => {
  const run = await create(randomUUID(), {});
  await joinRun(run);
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
  await joinRun(run);
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
  await joinRun(second);
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
