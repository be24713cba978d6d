// Stock clients cancel, double-text, resume and watch without changes: the newest one, and the dialect of 2.0.0.
import { Client as Newest } from '@langchain/langgraph-sdk';
import { Client as Older } from 'langgraph-sdk-2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { collect } from '../collect.ts';
import { startTestServer, type TestServer } from '../server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const clients = [
  ['1.12.4', (url: string) => new Newest({ apiUrl: url })],
  ['2.0.0', (url: string) => new Older({ apiUrl: url }) as unknown as Newest],
] as const;

describe.each(clients)('the stock client %s', (_, connect) => {
  let client: Newest;
  beforeAll(() => {
    client = connect(server.url);
  });
  const newThread = async (): Promise<string> => (await client.threads.create()).thread_id;
  const untilAborted = { input: { do: 'waitForAbort' } };

  it('cancels a run with and without wait, by interrupt and by rollback', async () => {
    const thread = await newThread();
    const first = await client.runs.create(thread, 'probe', untilAborted);
    await client.runs.cancel(thread, first.run_id, true);
    expect((await client.runs.get(thread, first.run_id)).status).toBe('interrupted');
    const second = await client.runs.create(thread, 'probe', untilAborted);
    await client.runs.cancel(thread, second.run_id, true, 'rollback');
    expect(await client.runs.list(thread)).toHaveLength(1);
    const third = await client.runs.create(thread, 'probe', untilAborted);
    await client.runs.cancel(thread, third.run_id);
    await eventually(async () =>
      expect((await client.runs.get(thread, third.run_id)).status).toBe('interrupted'),
    );
  });

  it('double-texts: the earlier run is interrupted or rolled back', async () => {
    const thread = await newThread();
    const sleep = { input: { do: 'sleep', ms: 1 } };
    const first = await client.runs.create(thread, 'probe', untilAborted);
    await client.runs.wait(thread, 'probe', { ...sleep, multitaskStrategy: 'interrupt' });
    expect((await client.runs.get(thread, first.run_id)).status).toBe('interrupted');
    const second = await client.runs.create(thread, 'probe', untilAborted);
    await client.runs.wait(thread, 'probe', { ...sleep, multitaskStrategy: 'rollback' });
    await expect(client.runs.get(thread, second.run_id)).rejects.toThrow('404');
    await client.runs.create(thread, 'probe', untilAborted);
    await expect(
      client.runs.create(thread, 'probe', { ...sleep, multitaskStrategy: 'reject' }),
    ).rejects.toThrow('409');
  });

  it('reads a resumable stream again with the same events from the first one', async () => {
    const thread = await newThread();
    let runId = '';
    const source = await collect(
      client.runs.stream(thread, 'probe', {
        input: { do: 'tick', ms: 10 },
        streamMode: ['custom', 'values'],
        streamResumable: true,
        onRunCreated: (run: { run_id: string }) => (runId = run.run_id),
      }),
    );
    const joined = await collect(client.runs.joinStream(thread, runId, { lastEventId: '-1' }));
    expect(joined).toEqual(source);
    expect(await collect(client.runs.joinStream(thread, runId, { lastEventId: '5' }))).toEqual(
      source.slice(6),
    );
  });

  it('reads a resumable stream whose first events were deleted, and learns which', async () => {
    const thread = await newThread();
    let runId = '';
    const source = await collect(
      client.runs.stream(thread, 'probe', {
        input: { do: 'tick', ms: 10 },
        streamMode: ['custom', 'values'],
        streamResumable: true,
        onRunCreated: (run: { run_id: string }) => (runId = run.run_id),
      }),
    );
    const text = `delete from run_events where run_id = $1 and first_id = 0 and outcome is null returning last_id`;
    const [row] = await server.database.query<{ last_id: number }>({ name: '', text }, [runId]);
    const { last_id = -1 } = row ?? {};
    expect(last_id).toBeGreaterThanOrEqual(0);
    const gap = { event: 'gap', data: { message: expect.any(String), from: 0, to: last_id } };
    const rest = source.slice(last_id + 1);
    const [first, ...others] = await collect(client.runs.joinStream(thread, runId, { lastEventId: '-1' }));
    expect(first).toMatchObject(gap);
    expect(others).toEqual(rest);
    const later = client.runs.joinStream(thread, runId, { lastEventId: String(last_id) });
    expect(await collect(later)).toEqual(rest);
  });

  it('reads the stream of a thread', async () => {
    const thread = await newThread();
    const stop = new AbortController();
    const watching = (async () => {
      const seen: string[] = [];
      try {
        for await (const { event, data } of client.threads.joinStream(thread, { signal: stop.signal })) {
          seen.push(event);
          if (event === 'values' && (data as { out?: string } | null)?.out === 'slept') break;
        }
      } finally {
        stop.abort();
      }
      return seen;
    })();
    const watched = {
      name: 'watched',
      text: 'select 1 from threads where thread_id = $1 and watched_until > now()',
    };
    await eventually(async () => expect(await server.database.query(watched, [thread])).toHaveLength(1));
    await client.runs.wait(thread, 'probe', { input: { do: 'sleep', ms: 300 } });
    expect(await watching).toEqual(expect.arrayContaining(['metadata', 'values']));
  });
});
