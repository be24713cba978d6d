// Runs: their configuration, their start, their order on a thread, streams of subgraphs, and clients that disconnect early.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client as StockClient } from '@langchain/langgraph-sdk';
import { createClient } from '@svc/sdk';
import { describe, expect, it } from 'vitest';
import { chatInput } from '../chat-input.ts';
import { collect } from '../collect.ts';
import { eventually } from '../eventually.ts';
import { fixture } from '../fixture.ts';
import { testFolder } from '../folders.ts';
import { untilOneWaits } from '../lock-waiters.ts';
import { startTestServer } from '../server.ts';
import { heldRun } from './held-run.ts';

const server = fixture(() => startTestServer());
const client = fixture(() => createClient({ apiUrl: server.url }));
const newThread = async (): Promise<string> => (await client.threads.create()).thread_id;

interface Seen {
  configurable: Record<string, unknown>;
  metadata: Record<string, unknown>;
  context: unknown;
}

describe('a run', () => {
  it("is configured by its assistant, then by its own config; the server's own keys cannot be set", async () => {
    const assistant = await client.assistants.create({
      graph_id: 'probe',
      config: {
        configurable: { style: 'terse', language: 'en' },
        metadata: { origin: 'assistant', kind: 'a' },
      },
      context: { user: 'ada', plan: 'free' },
      metadata: { team: 'a' },
    });
    const thread_id = await newThread();
    const forged = {
      language: 'de',
      thread_id: 'forged',
      run_id: 'forged',
      svc_auth_user_id: 'root',
      langgraph_auth_user: {},
      __pregel_checkpointer: 'x',
    };
    const { out } = await client.runs.wait<{ out: Seen }>(thread_id, assistant.assistant_id, {
      input: { do: 'config' },
      config: {
        configurable: forged,
        tags: ['a'],
        metadata: { origin: 'run', ticket: 1, run_attempt: 9, svc_auth_user_id: 'root' },
      },
      context: { plan: 'paid' },
      metadata: { ticket: 7 },
    });
    expect(out.configurable).toMatchObject({
      style: 'terse',
      language: 'de',
      thread_id,
      graph_id: 'probe',
      assistant_id: assistant.assistant_id,
    });
    expect(out.configurable['run_id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(out.configurable).not.toHaveProperty('svc_auth_user_id');
    expect(out.configurable).not.toHaveProperty('langgraph_auth_user');
    expect(out.context).toEqual({ user: 'ada', plan: 'paid' });
    expect(out.metadata).toMatchObject({ team: 'a', ticket: 7, run_attempt: 1, origin: 'run', kind: 'a' });
    expect(out.metadata).not.toHaveProperty('svc_auth_user_id');
  });

  it('tells the tracers of its graph their project and example', async () => {
    const langsmith_tracer = { project_name: 'shop', example_id: 'e1' };
    const { body } = await server.call('POST', '/runs/wait', {
      assistant_id: 'probe',
      input: { do: 'config' },
      langsmith_tracer,
    });
    expect(body).toMatchObject({
      out: { configurable: { langsmith_project: 'shop', langsmith_example_id: 'e1' } },
    });
  });

  it('creates its thread when if_not_exists is create, and returns 404 otherwise', async () => {
    const thread_id = randomUUID();
    await expect(client.runs.wait(thread_id, 'chat', { input: chatInput('x') })).rejects.toMatchObject({
      status: 404,
    });
    await client.runs.wait(thread_id, 'chat', { input: chatInput('x'), if_not_exists: 'create' });
    expect((await client.threads.get(thread_id)).metadata).toMatchObject({ graph_id: 'chat' });
  });

  it('starts from an earlier checkpoint when one is given', async () => {
    const thread_id = await newThread();
    await client.runs.wait(thread_id, 'chat', { input: chatInput('one') });
    const { checkpoint_id } = await client.threads.getState(thread_id);
    await client.runs.wait(thread_id, 'chat', { input: chatInput('two') });
    const values = await client.runs.wait<{ messages: { content: string }[] }>(thread_id, 'chat', {
      input: chatInput('other'),
      checkpoint_id,
    });
    expect(values.messages.map(({ content }) => content)).toEqual(['one', 'echo one', 'other', 'echo other']);
    expect((await client.threads.get(thread_id)).values).toEqual(values);
  });

  it('has the same result with every durability, and keeps the checkpoints that it promises', async () => {
    for (const [durability, checkpoints] of [
      ['sync', 3],
      ['async', 3],
      ['exit', 1],
    ] as const) {
      const thread_id = await newThread();
      const values = await client.runs.wait(thread_id, 'chat', { input: chatInput('x'), durability });
      expect(await client.threads.getHistory(thread_id)).toHaveLength(checkpoints);
      const state = await client.threads.getState(thread_id);
      expect(state).toMatchObject({ values, next: [] });
    }
  });

  it("follows the command's goto and update", async () => {
    const thread_id = await newThread();
    await client.runs.wait(thread_id, 'approval', { input: { log: [] } });
    const values = await client.runs.wait(thread_id, 'approval', {
      command: { resume: 'no', update: { log: ['noted'] } },
    });
    expect(values).toEqual({ log: ['written', 'noted', 'answered no', 'sent'] });
    const other = await newThread();
    const jumped = await client.runs.wait(other, 'approval', { command: { goto: 'send' } });
    expect(jumped).toMatchObject({ log: expect.arrayContaining(['sent']) as string[] });
  });

  it('is delayed by after_seconds', async () => {
    const thread_id = await newThread();
    const run = await client.runs.create(thread_id, 'chat', { input: chatInput('late'), after_seconds: 1 });
    expect(run.status).toBe('pending');
    expect(await client.runs.join(thread_id, run.run_id)).toMatchObject({
      messages: [{}, { content: 'echo late' }],
    });
  });

  it('has no links for feedback without tracing', async () => {
    const body = {
      assistant_id: 'chat',
      input: chatInput('hi'),
      feedback_keys: ['helpful', 'kind', 'helpful'],
    };
    const stock = new StockClient({ apiUrl: server.url });
    const events = await collect(
      stock.runs.stream(null, 'chat', {
        input: body.input,
        feedbackKeys: body.feedback_keys,
        streamMode: 'values',
      }),
    );
    expect(events.map(({ event }) => event)).not.toContain('feedback');
    expect((await server.call('POST', '/runs/wait', body)).body).not.toHaveProperty('__feedback__');
  });

  it('without a thread leaves nothing behind', async () => {
    const run = await client.runs.create(null, 'chat', { input: chatInput('x') });
    await eventually(async () => {
      const rows = await server.database.query(
        { name: 'left', text: 'select 1 from runs where run_id = $1' },
        [run.run_id],
      );
      expect(rows).toEqual([]);
    });
    const kept = await client.runs.create(null, 'chat', { input: chatInput('x'), on_completion: 'keep' });
    expect(await client.runs.join(kept.thread_id, kept.run_id)).toMatchObject({ messages: [{}, {}] });
    expect((await client.threads.get(kept.thread_id)).status).toBe('idle');
  });
});

describe('runs on one thread', () => {
  it('execute one after the other, in the order of their creation', async () => {
    const thread_id = await newThread();
    using held = heldRun();
    const first = await client.runs.create(thread_id, 'probe', { input: held.input });
    // Pending for a moment when it was created while the worker was claiming.
    await eventually(async () =>
      expect((await client.runs.get(thread_id, first.run_id)).status).toBe('running'),
    );
    const others = [];
    for (const content of ['a', 'b', 'c'])
      others.push(await client.runs.create(thread_id, 'chat', { input: chatInput(content) }));
    expect(others.map(({ status }) => status)).toEqual(['pending', 'pending', 'pending']);
    expect((await client.threads.get(thread_id)).status).toBe('busy');
    held.release();
    const last = others.at(-1)?.run_id ?? '';
    const values = (await client.runs.join(thread_id, last)) as { messages: { content: string }[] };
    expect(values.messages.map(({ content }) => content)).toEqual([
      'a',
      'echo a',
      'b',
      'echo b',
      'c',
      'echo c',
    ]);
    expect((await client.threads.get(thread_id)).status).toBe('idle');
  });

  it('are rejected with multitask_strategy reject while one is in flight; exactly one of fifty is accepted', async () => {
    const thread_id = await newThread();
    const tries = await Promise.allSettled(
      Array.from({ length: 50 }, () =>
        client.runs.create(thread_id, 'probe', {
          input: { do: 'waitForAbort' },
          multitask_strategy: 'reject',
        }),
      ),
    );
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const one of tries)
      if (one.status === 'rejected') expect(one.reason).toMatchObject({ status: 409, code: 'conflict' });
    const [run] = await client.runs.list(thread_id);
    await client.runs.cancel(thread_id, run?.run_id ?? '', { wait: true });
    await expect(client.runs.delete(thread_id, run?.run_id ?? '')).resolves.toBeUndefined();
  });

  it('and state updates exclude each other', async () => {
    const thread_id = await newThread();
    using held = heldRun();
    const run = await client.runs.create(thread_id, 'probe', { input: held.input });
    await expect(client.threads.updateState(thread_id, { values: { do: 'x' } })).rejects.toMatchObject({
      status: 409,
    });
    held.release();
    await client.runs.join(thread_id, run.run_id);
    const updates = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) =>
        client.threads.updateState(thread_id, { values: { ms: index } }),
      ),
    );
    const done = updates.filter(({ status }) => status === 'fulfilled').length;
    expect(done).toBeGreaterThan(0);
    expect(await client.threads.getHistory(thread_id, { limit: 100 })).toHaveLength(3 + done);
  });

  it('are stopped when their thread is deleted at any moment, and leave nothing behind', async () => {
    const ids = await Promise.all(Array.from({ length: 30 }, newThread));
    await Promise.all(
      ids.map(async (thread_id, index) => {
        const input = index % 3 === 0 ? { do: 'sleep', ms: 60_000 } : { do: 'date' };
        await client.runs.create(thread_id, 'probe', { input });
        await client.threads.delete(thread_id);
      }),
    );
    const tables = ['threads', 'runs', 'checkpoints', 'checkpoint_heads', 'checkpoint_writes', 'blobs'];
    // A run that has not noticed the deletion yet must be rejected too: let it try to write.
    await client.runs.wait(null, 'probe', { input: { do: 'sleep', ms: 300 } });
    for (const table of tables) {
      const column = table === 'blobs' ? 'space' : 'thread_id';
      const text = `select 1 from ${table} where ${column} = any ($1::uuid[])`;
      expect(await server.database.query({ name: `of_${table}`, text }, [ids]), table).toEqual([]);
    }
  });
});

describe('a subgraph', () => {
  it('is streamed with its namespace only when stream_subgraphs is set', async () => {
    const quiet = await collect(
      client.runs.stream(null, 'nested', { input: { log: [] }, stream_mode: ['updates', 'values'] }),
    );
    expect(quiet.filter(({ event }) => event.includes('|'))).toEqual([]);
    const loud = await collect(
      client.runs.stream(null, 'nested', {
        input: { log: [] },
        stream_mode: 'updates',
        stream_subgraphs: true,
      }),
    );
    const inner = loud.filter(({ event }) => /^updates\|inner:[0-9a-f-]{36}$/.test(event));
    expect(inner[0]?.data).toEqual({ deep: { log: ['deep'] } });
  });

  it('has states of its own, by namespace and checkpoint', async () => {
    const thread_id = await newThread();
    await client.runs.wait(thread_id, 'nested', { input: { log: [] } });
    const { tasks } = await client.threads.getState(thread_id);
    const checkpointNs = tasks[0]?.checkpoint?.checkpoint_ns ?? '';
    const inner = await client.threads.getState(thread_id, { checkpointNs });
    expect(inner).toMatchObject({
      values: { log: ['deep'] },
      next: ['ask'],
      checkpoint: { checkpoint_ns: checkpointNs },
    });
    const history = await client.threads.getHistory(thread_id, {
      checkpoint: { checkpoint_ns: checkpointNs },
    });
    expect(history.length).toBeGreaterThan(1);
    const earlier = history.at(-1)?.checkpoint_id ?? '';
    const first = await client.threads.getState(thread_id, { checkpointNs, checkpointId: earlier });
    expect(first.checkpoint_id).toBe(earlier);
  });

  it('accepts a state update while it is interrupted', async () => {
    const thread_id = await newThread();
    await client.runs.wait(thread_id, 'nested', { input: { log: [] } });
    const { tasks } = await client.threads.getState(thread_id);
    const checkpointNs = tasks[0]?.checkpoint?.checkpoint_ns ?? '';
    await client.threads.updateState(thread_id, {
      values: { log: ['from outside'] },
      asNode: 'deep',
      checkpointNs,
    });
    const inner = await client.threads.getState(thread_id, { checkpointNs });
    expect(inner.values).toEqual({ log: ['deep', 'from outside'] });
  });
});

const post = async (path: string, body: unknown): Promise<Socket> => {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const text = JSON.stringify(body);
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
  );
  return socket;
};

/** Requests a run, and disconnects while the statement that creates it waits for the lock of its thread. */
const disconnectEarly = async (
  kind: 'stream' | 'wait',
  on_disconnect: 'cancel' | 'continue',
): Promise<string> => {
  const { thread_id } = await client.threads.create();
  const lock = {
    name: 'lock_thread',
    text: 'select 1 from threads where thread_id = $1 for update',
  };
  await server.database.transact(async (tx) => {
    await tx.query(lock, [thread_id]);
    // A run that is cancelled by mistake has not ended before.
    const input = on_disconnect === 'cancel' ? { do: 'waitForAbort' } : { do: 'sleep', ms: 2_000 };
    const socket = await post(`/threads/${thread_id}/runs/${kind}`, {
      assistant_id: 'probe',
      input,
      on_disconnect,
    });
    await untilOneWaits(server.database);
    socket.destroy();
    await once(socket, 'close');
    // A server that has answered later requests has also processed the close of this connection.
    for (let request = 0; request < 5; request++) await server.call('GET', '/ok');
  });
  return thread_id;
};

const statusOf = async (thread_id: string): Promise<string> => {
  const [run] = await client.runs.list(thread_id);
  if (!run || ['pending', 'running'].includes(run.status)) throw new Error('The run has not ended');
  return run.status;
};

describe('a client that disconnects before its run is stored', () => {
  it.each(['stream', 'wait'] as const)('cancels the run with on_disconnect cancel (%s)', async (kind) => {
    const thread_id = await disconnectEarly(kind, 'cancel');
    expect(await eventually(() => statusOf(thread_id))).toBe('interrupted');
  });

  it('leaves the run running with on_disconnect continue', async () => {
    const thread_id = await disconnectEarly('stream', 'continue');
    expect(await eventually(() => statusOf(thread_id))).toBe('success');
  });
});

// The stack of the error that ended a run: a developer reads it with the run, and no other response contains it.

/** The id of a run that has thrown an error with a cause. */
const failedRun = async (thread_id: string): Promise<string> => {
  const input = { how: 'scream', seed: 3 };
  const { run_id } = await client.runs.create(thread_id, 'odd', { input, stream_resumable: true });
  await client.runs.join(thread_id, run_id).catch(() => undefined);
  return run_id;
};

describe('the error of a run', () => {
  it('has the stacks of the exception and of its cause', async () => {
    const { thread_id } = await client.threads.create();
    const { status, error } = await client.runs.get(thread_id, await failedRun(thread_id));
    expect(status).toBe('error');
    expect(error).toMatchObject({ error: 'TypeError', message: 'begin aaa end' });
    expect(error?.stack).toMatch(/^TypeError: begin aaa end\n +at .*odd\.ts:\d+/);
    expect(error?.stack).toMatch(/\nCaused by: Error: bbb\n +at .*odd\.ts:\d+/);
  });

  it('has no stack in lists, in the thread, in its state and in the events of the run', async () => {
    const { thread_id } = await client.threads.create();
    const run_id = await failedRun(thread_id);
    const error = { error: 'TypeError', message: 'begin aaa end' };
    const [listed] = await client.runs.list(thread_id);
    const [found] = await client.runs.search({ thread_id });
    expect([listed?.error, found?.error]).toEqual([error, error]);
    const events = await server.call('GET', `/threads/${thread_id}/runs/${run_id}/stream?last_event_id=-1`);
    const others = [await client.threads.get(thread_id), await client.threads.getState(thread_id), events];
    expect(JSON.stringify(others)).not.toContain('odd.ts');
  });

  it('is absent when the run has succeeded', async () => {
    const { thread_id } = await client.threads.create();
    const created = await client.runs.create(thread_id, 'odd', { input: { how: 'keep', seed: 0 } });
    await client.runs.join(thread_id, created.run_id);
    const run = await client.runs.get(thread_id, created.run_id);
    expect(run.error).toBeUndefined();
  });
});

// Runs whose client disconnects, and projects with a langgraph.json.

/** Starts a run, and disconnects once its stream has begun. */
const disconnect = async (
  on_disconnect: 'cancel' | 'continue',
  input: object,
): Promise<{ threadId: string; runId: string }> => {
  const { thread_id } = await client.threads.create();
  let runId = '';
  const options = { onRunCreated: (run: { runId: string }) => (runId = run.runId) };
  for await (const _ of client.runs.stream(thread_id, 'probe', { input, on_disconnect }, options)) break;
  return { threadId: thread_id, runId };
};

describe('a client that disconnects', () => {
  it('cancels its run with on_disconnect cancel', async () => {
    const { threadId, runId } = await disconnect('cancel', { do: 'waitForAbort' });
    await eventually(async () =>
      expect(await client.runs.get(threadId, runId)).toMatchObject({ status: 'interrupted' }),
    );
  });

  it('leaves its run running otherwise', async () => {
    const { threadId, runId } = await disconnect('continue', { do: 'sleep', ms: 400 });
    expect(await client.runs.join(threadId, runId)).toMatchObject({ out: 'slept' });
    expect(await client.runs.get(threadId, runId)).toMatchObject({ status: 'success' });
  });
});

describe('a project with a langgraph.json', () => {
  it('gets values and interrupts in search results', async () => {
    const graphs = fileURLToPath(new URL('../graphs/', import.meta.url));
    const folder = testFolder(graphs);
    await copyFile(join(graphs, 'approval.ts'), join(folder, 'approval.ts'));
    const project = join(folder, 'langgraph.json');
    await writeFile(
      project,
      JSON.stringify({ node_version: '20', graphs: { approval: './approval.ts:approval' } }),
    );
    await using stock = await startTestServer({ project });
    const other = createClient({ apiUrl: stock.url });
    const { thread_id } = await other.threads.create();
    await other.runs.wait(thread_id, 'approval', { input: { log: [] } });
    const [found] = await other.threads.search({ status: 'interrupted' });
    expect(found).toMatchObject({ thread_id, values: { log: ['written'] } });
    expect(Object.values(found?.interrupts ?? {}).flat()).toMatchObject([{ value: { question: 'send?' } }]);
  });
});
