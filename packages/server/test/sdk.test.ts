// The SDK against a real server.
import { randomUUID } from 'node:crypto';
import { ApiError, createClient, RunError } from '@svc/sdk';
import { describe, expect, it } from 'vitest';
import { chatInput } from './chat-input.ts';
import { collect } from './collect.ts';
import { startTestServer } from './server.ts';
import { fixture } from './fixture.ts';

const server = fixture(() => startTestServer());
const client = fixture(() => createClient({ apiUrl: server.url }));

describe('the SDK', () => {
  it('sends graphId as metadata.graph_id', async () => {
    const thread = await client.threads.create({ graphId: 'chat', metadata: { a: 1 } });
    expect(thread.metadata).toEqual({ a: 1, graph_id: 'chat' });
  });

  it('runs, waits, and reads the state back', async () => {
    const { thread_id } = await client.threads.create();
    const values = await client.runs.wait(thread_id, 'chat', { input: chatInput('hello') });
    const state = await client.threads.getState(thread_id);
    expect(state.values).toEqual(values);
    const history = await client.threads.getHistory(thread_id, { limit: 1 });
    expect(history).toEqual([state]);
    expect(await client.threads.getState(thread_id, { checkpointId: state.checkpoint_id as string })).toEqual(
      state,
    );
    expect(await client.threads.count({ ids: [thread_id] })).toBe(1);
    expect(await client.threads.search({ ids: [thread_id], select: ['values'] })).toEqual([{ values }]);
    expect(
      await client.threads.search({ ids: [thread_id], values: { messages: [{ content: 'hello' }] } }),
    ).toHaveLength(1);
    expect(
      await client.threads.search({ ids: [thread_id], values: { messages: [{ content: 'bye' }] } }),
    ).toEqual([]);
  });

  it("streams events as an async iterator, and reports the run's id first", async () => {
    const { thread_id } = await client.threads.create();
    let runId: string | undefined;
    const options = { onRunCreated: (run: { runId: string }) => (runId = run.runId) };
    const events = await collect(
      client.runs.stream(
        thread_id,
        'chat',
        { input: chatInput('hi'), stream_mode: ['updates', 'custom'] },
        options,
      ),
    );
    expect(events.map((event) => event.event)).toEqual(['metadata', 'custom', 'updates']);
    expect(events[0]?.data).toEqual({ run_id: runId, attempt: 1 });
  });

  it('joins a background run, by result and by stream', async () => {
    const { thread_id } = await client.threads.create();
    const run = await client.runs.create(thread_id, 'probe', {
      input: { do: 'sleep', ms: 100 },
      stream_mode: 'updates',
      stream_resumable: true,
    });
    const [values, events] = await Promise.all([
      client.runs.join(thread_id, run.run_id),
      collect(client.runs.joinStream(thread_id, run.run_id, { lastEventId: '-1' })),
    ]);
    expect(values).toMatchObject({ out: 'slept' });
    expect(events.map((event) => event.id)).toEqual(['0', '1']);
    const again = await collect(client.runs.joinStream(thread_id, run.run_id, { lastEventId: '0' }));
    expect(again).toEqual(events.slice(1));
    expect(await client.runs.list(thread_id, { status: 'success' })).toHaveLength(1);
    await client.runs.delete(thread_id, run.run_id);
    expect(await client.runs.list(thread_id)).toEqual([]);
  });

  it('throws the error of a graph', async () => {
    const failing = client.runs.wait(null, 'probe', { input: { do: 'throw' } });
    await expect(failing).rejects.toThrow(
      new RunError({ error: 'TypeError', message: 'the graph failed on purpose' }),
    );
    const quiet = await client.runs.wait(null, 'probe', { input: { do: 'throw' } }, { raiseError: false });
    expect(quiet).toEqual({ __error__: { error: 'TypeError', message: 'the graph failed on purpose' } });
  });

  it('throws a validation error with its details', async () => {
    const error = await client.threads.get(randomUUID()).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      status: 404,
      code: 'not_found',
      retryable: false,
      requestId: expect.any(String) as string,
    });
    const invalid = await client.threads.search({ limit: -1 }).catch((thrown: unknown) => thrown);
    expect(invalid).toMatchObject({ status: 422, code: 'invalid', detail: [{ loc: ['body', 'limit'] }] });
  });

  it('has crons, cancelling and the stream of a thread', async () => {
    const { thread_id } = await client.threads.create();
    const cron = await client.crons.create(thread_id, 'chat', {
      schedule: '0 3 * * *',
      metadata: { sdk: 1 },
    });
    expect(await client.crons.update(cron.cron_id, { enabled: false })).toMatchObject({ enabled: false });
    expect(await client.crons.search({ metadata: { sdk: 1 } })).toMatchObject([{ cron_id: cron.cron_id }]);
    expect(await client.crons.count({ thread_id })).toBe(1);
    await client.crons.delete(cron.cron_id);

    const stop = new AbortController();
    const named = { idempotencyKey: 'once' };
    const run = await client.runs.create(thread_id, 'probe', { input: { do: 'waitForAbort' } }, named);
    const again = await client.runs.create(thread_id, 'probe', { input: { do: 'waitForAbort' } }, named);
    expect(again.run_id).toBe(run.run_id);
    const watching = client.threads.joinStream(thread_id, {
      lastEventId: '-',
      streamMode: ['lifecycle'],
      signal: stop.signal,
    });
    const ended = (async () => {
      for await (const { event, data } of watching) if (event === 'end') return data;
      return undefined;
    })();
    await client.runs.cancel(thread_id, run.run_id, { wait: true });
    expect(await ended).toMatchObject({ run_id: run.run_id, status: 'interrupted' });
    stop.abort();
    await client.runs.create(thread_id, 'probe', { input: { do: 'waitForAbort' }, after_seconds: 60 });
    await client.runs.cancelMany({ status: 'pending' });
    expect(await client.runs.list(thread_id, { status: 'pending' })).toEqual([]);
  });

  it('sends commands of the thread protocol and reads its events', async () => {
    const thread_id = randomUUID();
    const start = { assistant_id: 'probe', input: { do: 'sleep', ms: 1 } };
    const started = await client.threads.command(thread_id, 'run.start', start);
    expect(started).toMatchObject({ type: 'success', id: 1, result: { run_id: expect.any(String) } });
    const unknown = await client.threads.command(thread_id, 'run.stop', {}, { id: 7 });
    expect(unknown).toMatchObject({ type: 'error', id: 7, error: 'unknown_command' });
    const stop = new AbortController();
    const seen: unknown[] = [];
    const feed = client.threads.events(
      thread_id,
      { channels: ['lifecycle'], depth: 0 },
      { signal: stop.signal },
    );
    for await (const { id, event, data } of feed) {
      expect(data).toMatchObject({ event_id: id, method: event });
      const { params } = data as { params: { data: { event: string } } };
      seen.push(params.data.event);
      if (params.data.event === 'completed') break;
    }
    stop.abort();
    expect(seen).toEqual(['running', 'completed']);
  });

  it('has assistants and the store', async () => {
    const assistant = await client.assistants.create({
      graph_id: 'chat-factory',
      config: { configurable: { suffix: '!' } },
    });
    const values = await client.runs.wait<{ messages: { content: string }[] }>(null, assistant.assistant_id, {
      input: chatInput('x'),
    });
    expect(values.messages.at(-1)?.content).toBe('made x!');
    await client.assistants.update(assistant.assistant_id, { config: { configurable: { suffix: '?' } } });
    expect((await client.assistants.versions(assistant.assistant_id)).map(({ version }) => version)).toEqual([
      2, 1,
    ]);
    expect(await client.assistants.setLatest(assistant.assistant_id, 1)).toMatchObject({ version: 1 });
    expect(await client.assistants.search({ graph_id: 'chat-factory' })).toHaveLength(2);
    expect((await client.assistants.graph('chat', { xray: true })).nodes.length).toBeGreaterThan(1);
    expect((await client.assistants.schemas('chat')).graph_id).toBe('chat');
    expect(Object.keys(await client.assistants.subgraphs('nested', { recurse: true }))).toEqual(['inner']);
    await client.assistants.delete(assistant.assistant_id);

    await client.store.put(['a', 'b'], 'k', { n: 1 });
    expect(await client.store.get(['a', 'b'], 'k')).toMatchObject({ value: { n: 1 } });
    expect(await client.store.search(['a'])).toHaveLength(1);
    expect(await client.store.namespaces({ max_depth: 1, prefix: ['a'] })).toEqual([['a']]);
    await client.store.delete(['a', 'b'], 'k');
    expect(await client.store.get(['a', 'b'], 'k')).toBeNull();
    expect(await client.ok()).toBe(true);
    expect((await client.info()).flags).toMatchObject({ assistants: true, crons: true });
  });
});
