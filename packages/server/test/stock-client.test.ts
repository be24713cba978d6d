// The stock clients use every operation without changes: the newest one, and the older dialect of 2.0.0.
import { randomUUID } from 'node:crypto';
import { Client as Newest } from '@langchain/langgraph-sdk';
import { Client as Older } from 'langgraph-sdk-2';
import { beforeAll, describe, expect, it } from 'vitest';
import { chatInput } from './chat-input.ts';
import { collect } from './collect.ts';
import { eventually } from './eventually.ts';
import { fixture } from './fixture.ts';
import { startTestServer } from './server.ts';

const server = fixture(() => startTestServer());

const clients = [
  ['1.12.4', (url: string) => new Newest({ apiUrl: url })],
  ['2.0.0', (url: string) => new Older({ apiUrl: url }) as unknown as Newest],
] as const;

describe.each(clients)('the stock client %s', (_, connect) => {
  let client: Newest;
  beforeAll(() => {
    client = connect(server.url);
  });

  it('finds the default assistants and their schemas', async () => {
    const [found] = await client.assistants.search({ graphId: 'chat' });
    expect(found).toMatchObject({
      graph_id: 'chat',
      name: 'chat',
      version: 1,
      metadata: { created_by: 'system' },
    });
    const byGraph = await client.assistants.get('chat');
    expect(byGraph.assistant_id).toBe(found?.assistant_id);
    const graph = await client.assistants.getGraph('chat');
    expect(graph.nodes.map((node) => node.id)).toContain('answer');
    const schemas = await client.assistants.getSchemas('chat');
    expect(schemas).toMatchObject({ graph_id: 'chat', state_schema: { properties: { messages: {} } } });
    const subgraphs = await client.assistants.getSubgraphs('nested');
    expect(Object.keys(subgraphs)).toEqual(['inner']);
    expect(await client.assistants.count({ graphId: 'chat' })).toBeGreaterThan(0);
  });

  it('creates, versions and deletes assistants', async () => {
    const assistant = await client.assistants.create({
      graphId: 'chat',
      name: 'mine',
      metadata: { team: 'a' },
    });
    expect(assistant).toMatchObject({ name: 'mine', version: 1, metadata: { team: 'a' } });
    const updated = await client.assistants.update(assistant.assistant_id, {
      metadata: { tier: 2 },
      name: 'ours',
    });
    expect(updated).toMatchObject({ name: 'ours', version: 2, metadata: { team: 'a', tier: 2 } });
    const versions = await client.assistants.getVersions(assistant.assistant_id);
    expect(versions.map((version) => version.version)).toEqual([2, 1]);
    const first = await client.assistants.setLatest(assistant.assistant_id, 1);
    expect(first).toMatchObject({ name: 'mine', version: 1, metadata: { team: 'a' } });
    await client.assistants.delete(assistant.assistant_id);
    await expect(client.assistants.get(assistant.assistant_id)).rejects.toThrow(/404/);
  });

  it('creates, searches, patches and deletes threads', async () => {
    const mark = randomUUID();
    const thread = await client.threads.create({ metadata: { mark }, graphId: 'chat' });
    expect(thread).toMatchObject({ status: 'idle', metadata: { mark, graph_id: 'chat' }, values: {} });
    await expect(client.threads.create({ threadId: thread.thread_id })).rejects.toThrow(/409/);
    const same = await client.threads.create({ threadId: thread.thread_id, ifExists: 'do_nothing' });
    expect(same.thread_id).toBe(thread.thread_id);
    const found = await client.threads.search({ metadata: { mark } });
    expect(found.map((one) => one.thread_id)).toEqual([thread.thread_id]);
    expect(found[0]).not.toHaveProperty('values');
    const patched = await client.threads.update(thread.thread_id, { metadata: { more: true } });
    expect(patched.metadata).toMatchObject({ mark, more: true });
    expect(await client.threads.count({ metadata: { mark } })).toBe(1);
    await client.threads.delete(thread.thread_id);
    await expect(client.threads.get(thread.thread_id)).rejects.toThrow(/404/);
  });

  it('builds a state from supersteps, and copies a thread with its history', async () => {
    const thread = await client.threads.create({
      graphId: 'chat',
      supersteps: [
        { updates: [{ values: chatInput('hello'), asNode: '__input__' }] },
        { updates: [{ values: chatInput('hello'), asNode: '__start__' }] },
        { updates: [{ values: { messages: [{ role: 'assistant', content: 'hi' }] }, asNode: 'answer' }] },
      ],
    });
    expect(
      (thread.values as { messages: { content: string }[] }).messages.map((message) => message.content),
    ).toEqual(['hello', 'hi']);
    const copy = await client.threads.copy(thread.thread_id);
    expect(copy.thread_id).not.toBe(thread.thread_id);
    const [ours, theirs] = await Promise.all([
      client.threads.getHistory(thread.thread_id),
      client.threads.getHistory(copy.thread_id),
    ]);
    expect(ours).toHaveLength(3);
    expect(theirs.map((state) => state.values)).toEqual(ours.map((state) => state.values));
    expect(theirs.map((state) => state.checkpoint.checkpoint_id)).toEqual(
      ours.map((state) => state.checkpoint.checkpoint_id),
    );
    await client.runs.wait(copy.thread_id, 'chat', { input: chatInput('only here') });
    expect(await client.threads.getHistory(thread.thread_id)).toHaveLength(3);
  });

  it('waits for a run on a thread, and the next one continues it', async () => {
    const thread = await client.threads.create();
    await client.runs.wait(thread.thread_id, 'chat', { input: chatInput('one') });
    const values = (await client.runs.wait(thread.thread_id, 'chat', { input: chatInput('two') })) as {
      messages: { content: string }[];
    };
    expect(values.messages.map((message) => message.content)).toEqual(['one', 'echo one', 'two', 'echo two']);
    const after = await client.threads.get(thread.thread_id);
    expect(after).toMatchObject({ status: 'idle', metadata: { graph_id: 'chat' }, values });
    const state = await client.threads.getState(thread.thread_id);
    expect(state.values).toEqual(values);
    expect(state.metadata).toMatchObject({ source: 'loop', graph_id: 'chat', writes: { answer: {} } });
    const runs = await client.runs.list(thread.thread_id);
    expect(runs.map((run) => run.status)).toEqual(['success', 'success']);
  });

  it('streams a run in every mode', async () => {
    const thread = await client.threads.create();
    const modes = [
      'values',
      'updates',
      'messages',
      'messages-tuple',
      'custom',
      'tasks',
      'checkpoints',
      'debug',
      'events',
    ] as const;
    const created: string[] = [];
    const chunks = await collect(
      client.runs.stream(thread.thread_id, 'chat', {
        input: chatInput('hi'),
        streamMode: [...modes],
        onRunCreated: (run) => created.push(run.run_id),
      }),
    );
    const events = new Set(chunks.map((chunk) => chunk.event as string));
    expect(chunks[0]).toMatchObject({ event: 'metadata', data: { run_id: created[0], attempt: 1 } });
    for (const name of [
      'values',
      'updates',
      'messages',
      'messages/partial',
      'messages/complete',
      'custom',
      'tasks',
      'checkpoints',
      'debug',
      'events',
    ]) {
      expect(events, name).toContain(name);
    }
    const ids = chunks.map((chunk) => Number((chunk as { id?: string }).id));
    expect(ids).toEqual(chunks.map((_, index) => index));
  });

  it('runs in the background; join and stream find the run', async () => {
    const thread = await client.threads.create();
    const run = await client.runs.create(thread.thread_id, 'probe', {
      input: { do: 'sleep', ms: 150 },
      streamMode: 'updates',
      streamResumable: true,
    });
    expect(run).toMatchObject({ thread_id: thread.thread_id, kwargs: { input: { do: 'sleep', ms: 150 } } });
    const [values, events] = await Promise.all([
      client.runs.join(thread.thread_id, run.run_id),
      collect(client.runs.joinStream(thread.thread_id, run.run_id, { lastEventId: '-1' })),
    ]);
    expect(values).toMatchObject({ out: 'slept' });
    expect(events.map((event) => event.event)).toEqual(['metadata', 'updates']);
    expect(await client.runs.get(thread.thread_id, run.run_id)).toMatchObject({ status: 'success' });
    await client.runs.delete(thread.thread_id, run.run_id);
    await expect(client.runs.get(thread.thread_id, run.run_id)).rejects.toThrow(/404/);
  });

  it('stateless runs: wait, stream, batch', async () => {
    const values = (await client.runs.wait(null, 'chat', { input: chatInput('alone') })) as {
      messages: unknown[];
    };
    expect(values.messages).toHaveLength(2);
    const chunks = await collect(
      client.runs.stream(null, 'chat', { input: chatInput('alone'), streamMode: 'updates' }),
    );
    expect(chunks.map((chunk) => chunk.event)).toEqual(['metadata', 'updates']);
    const batch = await client.runs.createBatch([
      { assistantId: 'chat', input: chatInput('a') },
      { assistantId: 'chat', input: chatInput('b') },
    ]);
    expect(batch).toHaveLength(2);
  });

  it('interrupts, returns the question, and resumes', async () => {
    const thread = await client.threads.create();
    const stopped = await client.runs.wait(thread.thread_id, 'approval', { input: { log: [] } });
    expect(stopped).toMatchObject({ log: ['written'], __interrupt__: [{ value: { question: 'send?' } }] });
    const waiting = await client.threads.get(thread.thread_id);
    expect(waiting.status).toBe('interrupted');
    expect(Object.values(waiting.interrupts ?? {}).flat()).toMatchObject([{ value: { question: 'send?' } }]);
    const state = await client.threads.getState(thread.thread_id);
    expect(state.next).toEqual(['review']);
    expect(state.tasks[0]?.interrupts).toMatchObject([{ value: { question: 'send?' } }]);
    const done = await client.runs.wait(thread.thread_id, 'approval', { command: { resume: 'yes' } });
    expect(done).toEqual({ log: ['written', 'answered yes', 'sent'] });
    const history = await client.threads.getHistory(thread.thread_id);
    expect(history.find(({ next }) => next[0] === 'review')?.tasks).toMatchObject([
      { name: 'review', interrupts: [{}], result: { log: ['answered yes'] } },
    ]);
    expect((await client.threads.get(thread.thread_id)).status).toBe('idle');
    expect((await client.runs.list(thread.thread_id)).map((run) => run.status)).toEqual([
      'success',
      'success',
    ]);
  });

  it('stops at breakpoints and continues from there', async () => {
    const thread = await client.threads.create();
    await client.runs.wait(thread.thread_id, 'approval', { input: { log: [] }, interruptBefore: ['write'] });
    expect((await client.threads.getState(thread.thread_id)).next).toEqual(['write']);
    await client.runs.wait(thread.thread_id, 'approval', { input: null, interruptAfter: ['write'] });
    const state = await client.threads.getState(thread.thread_id);
    expect(state).toMatchObject({ next: ['review'], values: { log: ['written'] } });
    expect((await client.threads.get(thread.thread_id)).status).toBe('interrupted');
  });

  it('updates the state, also from an earlier checkpoint, and continues from the fork', async () => {
    const thread = await client.threads.create();
    await client.runs.wait(thread.thread_id, 'chat', { input: chatInput('one') });
    const [newest] = await client.threads.getHistory(thread.thread_id);
    await client.runs.wait(thread.thread_id, 'chat', { input: chatInput('two') });
    const updated = await client.threads.updateState(thread.thread_id, {
      values: chatInput('instead'),
      asNode: '__start__',
      checkpointId: newest?.checkpoint.checkpoint_id as string,
    });
    const id = (updated as unknown as { checkpoint: { checkpoint_id: string } }).checkpoint.checkpoint_id;
    const state = await client.threads.getState<{ messages: { content: string }[] }>(thread.thread_id, id);
    expect(state.values.messages.map((message) => message.content)).toEqual(['one', 'echo one', 'instead']);
    expect(state.parent_checkpoint?.checkpoint_id).toBe(newest?.checkpoint.checkpoint_id);
    const values = (await client.runs.wait(thread.thread_id, 'chat', { input: null })) as {
      messages: { content: string }[];
    };
    expect(values.messages.map((message) => message.content)).toEqual([
      'one',
      'echo one',
      'instead',
      'echo instead',
    ]);
  });

  it('adds metadata to the newest state, except for keys of the server', async () => {
    const thread = await client.threads.create();
    await client.runs.wait(thread.thread_id, 'chat', { input: chatInput('one') });
    const before = await client.threads.getState(thread.thread_id);
    await client.threads.patchState(thread.thread_id, { reviewed: 'yes', step: 99, source: 'x' } as never);
    await client.threads.patchState(thread.thread_id, { by: 'ada' } as never);
    const state = await client.threads.getState(thread.thread_id);
    expect(state.metadata).toEqual({ ...before.metadata, reviewed: 'yes', by: 'ada' });
    const history = await client.threads.getHistory(thread.thread_id);
    expect(history.filter(({ metadata }) => 'reviewed' in (metadata ?? {}))).toHaveLength(1);
    await client.runs.wait(thread.thread_id, 'chat', { input: chatInput('two') });
  });

  it('adds no metadata to a state that does not exist, or while a run is in flight', async () => {
    const thread = await client.threads.create();
    const patch = () => client.threads.patchState(thread.thread_id, { reviewed: true } as never);
    await expect(patch()).rejects.toMatchObject({ status: 404 });
    await client.runs.create(thread.thread_id, 'probe', { input: { do: 'sleep', ms: 60_000 } });
    await expect(patch()).rejects.toMatchObject({ status: 409 });
    await client.threads.delete(thread.thread_id);
    await expect(patch()).rejects.toMatchObject({ status: 404 });
  });

  it('returns the state of an interrupted subgraph', async () => {
    const thread = await client.threads.create();
    await client.runs.wait(thread.thread_id, 'nested', { input: { log: [] } });
    const flat = await client.threads.getState(thread.thread_id);
    expect(flat.next).toEqual(['inner']);
    const ns = flat.tasks[0]?.checkpoint?.checkpoint_ns as string;
    expect(ns).toMatch(/^inner:/);
    const deep = await client.threads.getState(thread.thread_id, undefined, { subgraphs: true });
    expect(deep.tasks[0]?.state).toMatchObject({ values: { log: ['deep'] }, next: ['ask'] });
    const done = await client.runs.wait(thread.thread_id, 'nested', { command: { resume: '42' } });
    expect(done).toEqual({ log: ['deep', 'asked 42'] });
  });

  it('filters history by limit, before and metadata', async () => {
    const thread = await client.threads.create();
    await client.runs.wait(thread.thread_id, 'chat', { input: chatInput('one'), metadata: { batch: 'x' } });
    await client.runs.wait(thread.thread_id, 'chat', { input: chatInput('two') });
    const all = await client.threads.getHistory(thread.thread_id, { limit: 100 });
    expect(all.map((state) => (state.metadata as { step: number }).step)).toEqual([4, 3, 2, 1, 0, -1]);
    expect(await client.threads.getHistory(thread.thread_id, { limit: 2 })).toHaveLength(2);
    const before = await client.threads.getHistory(thread.thread_id, {
      before: { configurable: { checkpoint_id: all[2]?.checkpoint.checkpoint_id } } as never,
    });
    expect(before.map((state) => state.checkpoint.checkpoint_id)).toEqual(
      all.slice(3).map((state) => state.checkpoint.checkpoint_id),
    );
    const marked = await client.threads.getHistory(thread.thread_id, { metadata: { batch: 'x' } });
    expect(marked).toHaveLength(3);
  });

  it('keeps values in the store, shared with graphs', async () => {
    const place = ['users', randomUUID()];
    await client.store.putItem(place, 'profile', { name: 'Ada', age: 36 });
    expect(await client.store.getItem(place, 'profile')).toMatchObject({ value: { name: 'Ada', age: 36 } });
    const found = await client.store.searchItems(place, { filter: { age: { $gt: 30 } } });
    expect(found.items).toHaveLength(1);
    const { namespaces } = await client.store.listNamespaces({ prefix: place });
    expect(namespaces).toEqual([place]);
    await client.store.deleteItem(place, 'profile');
    expect(await client.store.getItem(place, 'profile')).toBeNull();
    await client.runs.wait(null, 'probe', { input: { do: 'remember' } });
    expect(await client.store.getItem(['notes'], 'one')).toMatchObject({ value: { text: 'from the graph' } });
  });

  it('returns the error of a failed run with the run and the thread', async () => {
    const thread = await client.threads.create();
    await expect(client.runs.wait(thread.thread_id, 'probe', { input: { do: 'throw' } })).rejects.toThrow(
      /the graph failed on purpose/,
    );
    const [run] = await client.runs.list(thread.thread_id);
    expect(run).toMatchObject({
      status: 'error',
      error: { error: 'TypeError', message: 'the graph failed on purpose' },
    });
    expect((await client.threads.get(thread.thread_id)).status).toBe('error');
  });
});

// Stock clients cancel, double-text, resume and watch without changes: the newest one, and the dialect of 2.0.0.

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
    const [row] = await server.database.query<{ last_id: number }>({ text }, [runId]);
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
