// Several servers on one database: one accepts a run, another executes it, a third streams it.
import { createClient, type RunStreamEvent } from '@svc/sdk';
import { describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { testDatabase } from '../database.ts';
import { chatInput } from '../chat-input.ts';
import { collect } from '../collect.ts';
import { scaled } from '../speed.ts';
import { startTestServer } from '../server.ts';
import { fixture } from '../fixture.ts';

const database = fixture(() => testDatabase());
const api = fixture(() => startTestServer({ database, settings: { ...settings, role: 'api' } }));
const other = fixture(() => startTestServer({ database, settings: { ...settings, role: 'api' } }));
fixture(() => startTestServer({ database, settings: { ...settings, role: 'worker' } }));
const client = fixture(() => createClient({ apiUrl: api.url }));
const elsewhere = fixture(() => createClient({ apiUrl: other.url }));
const settings = { lease: `${scaled(6)}s`, streamTtl: '60s' };

const newThread = async (): Promise<string> => (await client.threads.create()).thread_id;
const idsOf = (events: RunStreamEvent[]): number[] => events.map(({ id }) => Number(id));
const countTo = (length: number): number[] => Array.from({ length }, (_, at) => at);

describe('a run that executes on another node', () => {
  it('is awaited, with and without a thread', async () => {
    const thread_id = await newThread();
    const result = { messages: [{}, { content: 'echo a' }] };
    expect(await client.runs.wait(thread_id, 'chat', { input: chatInput('a') })).toMatchObject(result);
    expect(await client.runs.wait(null, 'chat', { input: chatInput('a') })).toMatchObject(result);
    await expect(client.runs.wait(thread_id, 'probe', { input: { do: 'throw' } })).rejects.toMatchObject({
      message: expect.stringContaining('the graph failed on purpose') as string,
    });
  });

  it('is streamed from its first event to its last, as on the node that executes it', async () => {
    const input = { do: 'tick', ms: 20 };
    const events = await collect(
      client.runs.stream(await newThread(), 'probe', { input, stream_mode: ['custom', 'values'] }),
    );
    expect(idsOf(events)).toEqual(countTo(events.length));
    expect(events[0]).toMatchObject({ event: 'metadata', data: { attempt: 1 } });
    expect(events.filter(({ event }) => event === 'custom').map(({ data }) => data)).toEqual(
      countTo(20).map((at) => ({ at })),
    );
    expect(events.at(-1)).toMatchObject({ event: 'values', data: { out: 'ticked' } });
    const failed = await collect(client.runs.stream(null, 'probe', { input: { do: 'throw' } }));
    expect(failed.at(-1)).toMatchObject({ event: 'error', data: { error: 'TypeError' } });
  });

  it('is joined by any number of readers, on any node, at any position', async () => {
    const thread_id = await newThread();
    const run = { input: { do: 'tick', ms: 60 }, stream_mode: 'custom', stream_resumable: true } as const;
    const { run_id } = await client.runs.create(thread_id, 'probe', run);
    const reading = [client, elsewhere, client, elsewhere].map((one) =>
      collect(one.runs.joinStream(thread_id, run_id, { lastEventId: '-1' })),
    );
    const [first, ...others] = await Promise.all(reading);
    expect(idsOf(first ?? [])).toEqual(countTo(61));
    for (const events of others) expect(events).toEqual(first);
    for (const after of [0, 17, 59, 60]) {
      const suffix = await collect(
        elsewhere.runs.joinStream(thread_id, run_id, { lastEventId: String(after) }),
      );
      expect(suffix).toEqual(first?.slice(after + 1));
    }
    for (const odd of ['', 'garbage', '1e3', '999999', '99999999999999999999']) {
      const events = await collect(elsewhere.runs.joinStream(thread_id, run_id, { lastEventId: odd }));
      expect(events).toEqual([]);
    }
  });

  it('that no reader was expected for is streamed live to a reader that joins', async () => {
    const thread_id = await newThread();
    const { run_id } = await client.runs.create(thread_id, 'probe', {
      input: { do: 'tick', ms: 1_000 },
      stream_mode: 'custom',
    });
    await eventually(async () =>
      expect(await client.runs.get(thread_id, run_id)).toMatchObject({ status: 'running' }),
    );
    const events = await collect(elsewhere.runs.joinStream(thread_id, run_id));
    expect(events.length).toBeGreaterThan(10);
    expect(idsOf(events)).toEqual(countTo(events.length).map((at) => at + (idsOf(events)[0] ?? 0)));
    expect(events.at(-1)).toMatchObject({ event: 'custom', data: { at: 999 } });
  });

  it('is joined for its result and can be cancelled', async () => {
    const thread_id = await newThread();
    const slow = await client.runs.create(thread_id, 'probe', { input: { do: 'sleep', ms: 300 } });
    expect(await elsewhere.runs.join(thread_id, slow.run_id)).toMatchObject({ out: 'slept' });
    const { run_id } = await client.runs.create(thread_id, 'probe', { input: { do: 'waitForAbort' } });
    await eventually(async () =>
      expect(await client.runs.get(thread_id, run_id)).toMatchObject({ status: 'running' }),
    );
    const cancelled = await other.call('POST', `/threads/${thread_id}/runs/${run_id}/cancel?wait=1`);
    expect(cancelled.status).toBe(204);
    expect(await client.runs.get(thread_id, run_id)).toMatchObject({ status: 'interrupted' });
  });

  it('is joined for its own result, even after later runs', async () => {
    const thread_id = await newThread();
    const first = await client.runs.create(thread_id, 'chat', { input: chatInput('a') });
    const second = await client.runs.create(thread_id, 'chat', { input: chatInput('b') });
    const both = { messages: [{}, { content: 'echo a' }, {}, { content: 'echo b' }] };
    expect(await elsewhere.runs.join(thread_id, second.run_id)).toMatchObject(both);
    expect(await elsewhere.runs.join(thread_id, first.run_id)).toMatchObject({
      messages: [{}, { content: 'echo a' }],
    });
    // The run's result is deleted: the thread's state is the closest available value.
    await client.threads.prune([thread_id], { strategy: 'keep_latest' });
    expect(await elsewhere.runs.join(thread_id, first.run_id)).toMatchObject(both);
  });

  it('ends its streams when its thread is deleted', async () => {
    const thread_id = await newThread();
    const events = collect(
      client.runs.stream(thread_id, 'probe', { input: { do: 'waitForAbort' }, stream_mode: 'custom' }),
    );
    await eventually(async () =>
      expect(await client.runs.list(thread_id)).toMatchObject([{ status: 'running' }]),
    );
    await elsewhere.threads.delete(thread_id);
    expect((await events).at(-1)).toMatchObject({ event: 'error', data: { error: 'RunDeleted' } });
  });
});

describe('a run that moves to another node', () => {
  it('continues for its readers, with new ids for new events', async () => {
    await using first = await startTestServer({ database, settings });
    const here = createClient({ apiUrl: first.url });
    // The other worker must not claim the run first.
    const reading = collect(
      here.runs.stream(await newThread(), 'probe', {
        input: { do: 'exitOnce', ms: 30 },
        stream_mode: 'custom',
      }),
    );
    await eventually(async () =>
      expect((await first.call('GET', '/metrics')).body).toMatch(/svc_running_runs 1/),
    );
    const drained = first.drain(new AbortController().signal);
    const events = await reading;
    await drained;
    expect(idsOf(events)).toEqual(countTo(events.length));
    expect(events.filter(({ event }) => event === 'metadata').map(({ data }) => data)).toMatchObject([
      { attempt: 1 },
      { attempt: 2 },
    ]);
    expect(events.at(-1)).toMatchObject({ event: 'custom', data: { at: 29 } });
  });
});

describe('a run with an Idempotency-Key', () => {
  it('is created once, however often and on whichever node it is requested', async () => {
    const thread_id = await newThread();
    const createRun = async (url: string, key: string, content: string) => {
      const response = await fetch(`${url}/threads/${thread_id}/runs`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify({
          assistant_id: 'chat',
          input: chatInput(content),
          metadata: { ticket: 1, by: 'me' },
        }),
      });
      return { status: response.status, body: (await response.json()) as { run_id: string } };
    };
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, at) => createRun(at % 2 ? api.url : other.url, 'one', 'hello')),
    );
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
    expect(new Set(responses.map(({ body }) => body.run_id)).size).toBe(1);
    expect((await createRun(api.url, 'one', 'something else')).status).toBe(409);
    expect((await createRun(api.url, 'two', 'hello')).body.run_id).not.toBe(responses[0]?.body.run_id);
    expect((await createRun(api.url, 'x'.repeat(256), 'hello')).status).toBe(422);
    await eventually(async () => expect(await client.runs.list(thread_id)).toHaveLength(2));
  });
});

describe('the stream of a thread', () => {
  /** Reads frames until `enough` returns true. */
  const watch = async (
    thread_id: string,
    query: string,
    enough: (events: { id: string; event: string }[]) => boolean,
    headers: Record<string, string> = {},
  ) => {
    const stop = new AbortController();
    const response = await fetch(`${other.url}/threads/${thread_id}/stream?${query}`, {
      signal: stop.signal,
      headers,
    });
    let text = '';
    const decoder = new TextDecoder();
    const read = (): { id: string; event: string; data: unknown }[] =>
      [...text.matchAll(/id: (.*)\nevent: (.*)\ndata: (.*)\n\n/g)].map(
        ([, id = '', event = '', data = '']) => ({
          id,
          event,
          data: JSON.parse(data) as unknown,
        }),
      );
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true });
      if (enough(read())) break;
    }
    stop.abort();
    return read();
  };
  const endings = (count: number) => (events: { event: string }[]) =>
    events.filter(({ event }) => event === 'end').length >= count;

  it('has the events of all runs in order, wherever they execute', async () => {
    const thread_id = await newThread();
    const watching = watch(thread_id, 'stream_mode=run_modes&stream_mode=lifecycle', endings(3));
    await eventually(async () =>
      expect(
        await database.query(
          { name: 'w', text: 'select 1 from threads where thread_id = $1 and watched_until > now()' },
          [thread_id],
        ),
      ).toHaveLength(1),
    );
    for (const content of ['a', 'b', 'c'])
      await client.runs.wait(thread_id, 'chat', { input: chatInput(content) });
    const events = await watching;
    expect(events.filter(({ event }) => event === 'metadata')).toHaveLength(3);
    expect(events.filter(({ event }) => event === 'end').map(({ data }) => data)).toMatchObject([
      { status: 'success' },
      { status: 'success' },
      { status: 'success' },
    ]);
    const middle = events.findIndex(({ event }) => event === 'end');
    const resumed = await watch(thread_id, 'stream_mode=run_modes&stream_mode=lifecycle', endings(3), {
      'last-event-id': events[1]?.id ?? '',
    });
    expect(resumed).toEqual(events.slice(2));
    const whole = await watch(thread_id, 'stream_modes=lifecycle', endings(3), { 'last-event-id': '-' });
    expect(new Set(whole.map(({ event }) => event))).toEqual(new Set(['metadata', 'end']));
    expect(middle).toBeGreaterThan(1);
  });

  it('returns 404 for an unknown thread', async () => {
    const { status } = await other.call('GET', '/threads/00000000-0000-4000-8000-000000000000/stream');
    expect(status).toBe(404);
  });
});
