// A graph that harms its executor does not harm the server or the runs of others.
import { createClient } from '@svc/sdk';
import { describe, expect, it } from 'vitest';
import { scaled } from '../speed.ts';
import { startTestServer } from '../server.ts';
import { fixture } from '../fixture.ts';

const server = fixture(() => startTestServer({ settings: { executors: '2', lease: `${scaled(6)}s` } }));
const client = fixture(() => createClient({ apiUrl: server.url }));

const newThread = async (): Promise<string> => (await client.threads.create()).thread_id;

describe('a run that ends its executor', () => {
  it.each([
    ['by process.exit', 'exit', 'exit code 0'],
    ['by process.abort', 'abort', 'signal SIGABRT'],
  ])('%s ends with an error after three attempts; other runs continue', async (_, action, reason) => {
    const others = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const thread_id = await newThread();
        return client.runs.create(thread_id, 'probe', { input: { do: 'sleep', ms: 1_500 } });
      }),
    );
    const thread_id = await newThread();
    const { run_id } = await client.runs.create(thread_id, 'probe', { input: { do: action } });
    await expect(client.runs.join(thread_id, run_id)).rejects.toMatchObject({
      message: expect.stringContaining(reason) as string,
    });
    expect(await client.runs.get(thread_id, run_id)).toMatchObject({
      status: 'error',
      attempt: 3,
      error: { error: 'AttemptsExhausted', message: expect.stringContaining('3 attempts') as string },
      lost_attempts: [
        { attempt: 1 },
        { attempt: 2 },
        { attempt: 3, message: expect.stringContaining(reason) as string },
      ],
    });
    expect((await client.threads.get(thread_id)).status).toBe('error');
    for (const other of others) {
      expect(await client.runs.join(other.thread_id, other.run_id)).toMatchObject({ out: 'slept' });
    }
  });
});

describe('runs that end their executors', () => {
  it('each get their attempts, on executors of their own, in turn', async () => {
    const threads = await Promise.all(Array.from({ length: 6 }, newThread));
    const runs = await Promise.all(
      threads.map((thread_id) => client.runs.create(thread_id, 'probe', { input: { do: 'exit' } })),
    );
    for (const { thread_id, run_id } of runs) {
      await expect(client.runs.join(thread_id, run_id)).rejects.toThrow();
      expect(await client.runs.get(thread_id, run_id)).toMatchObject({ status: 'error', attempt: 3 });
    }
    const thread_id = await newThread();
    const sane = client.runs.wait(thread_id, 'probe', { input: { do: 'sleep', ms: 1 } });
    expect(await sane).toMatchObject({ out: 'slept' });
  });
});

describe('a run that keeps its executor busy', () => {
  it('is not taken for lost, and the server keeps answering', async () => {
    const thread_id = await newThread();
    const { run_id } = await client.runs.create(thread_id, 'probe', { input: { do: 'spin', ms: 12_000 } });
    const values = client.runs.join(thread_id, run_id);
    for (let requests = 0; requests < 20; requests++) await client.threads.get(thread_id);
    expect(await values).toMatchObject({ out: 'spun' });
    expect(await client.runs.get(thread_id, run_id)).toMatchObject({ status: 'success', attempt: 1 });
  });

  it('emits no more events after its last reader has disconnected', async () => {
    const ticks = 600;
    const thread_id = await newThread();
    let run_id = '';
    const stream = client.runs.stream(
      thread_id,
      'probe',
      { input: { do: 'read', ms: ticks }, stream_mode: 'custom', on_disconnect: 'continue' },
      { onRunCreated: (run) => (run_id = run.runId) },
    );
    for await (const { event } of stream) if (event === 'custom') break;
    const { out } = (await client.runs.join(thread_id, run_id)) as unknown as { out: number };
    expect(out).toBeGreaterThan(0);
    expect(out).toBeLessThan(ticks);
  });

  it('resumes its events for a reader that joins after the last one has disconnected', async () => {
    const thread_id = await newThread();
    let run_id = '';
    const input = { do: 'read', ms: 600 };
    const options = { onRunCreated: (run: { runId: string }) => (run_id = run.runId) };
    const request = { input, stream_mode: 'custom' as const, on_disconnect: 'continue' as const };
    for await (const { event } of client.runs.stream(thread_id, 'probe', request, options))
      if (event === 'custom') break;
    const seen: number[] = [];
    for await (const { event, data } of client.runs.joinStream(thread_id, run_id))
      if (event === 'custom') seen.push((data as { at: number }).at);
    expect(seen.length).toBeGreaterThan(0);
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    expect(seen.at(-1)).toBe(599);
  });

  it('with a flood of events delivers all of them to a fast reader', async () => {
    const count = 20_000;
    let custom = 0;
    const stream = client.runs.stream(null, 'probe', {
      input: { do: 'flood', ms: count },
      stream_mode: 'custom',
    });
    for await (const { event } of stream) if (event === 'custom') custom += 1;
    expect(custom).toBe(count);
  });
});
