// A pruned thread keeps its state and loses its history; values that it shares with copies are kept for them.
import { randomUUID } from 'node:crypto';
import { Client as StockClient } from '@langchain/langgraph-sdk';
import { emptyCheckpoint, uuid6 } from '@langchain/langgraph-checkpoint';
import { beforeAll, describe, expect, it } from 'vitest';
import { eventually } from './eventually.ts';
import { SvcCheckpointer } from '../src/engine/checkpoints/checkpointer.ts';
import { CommitQueue, LeaseLost } from '../src/engine/checkpoints/commit-queue.ts';
import { RecentBlobs } from '../src/engine/checkpoints/recent-blobs.ts';
import { ThreadSession } from '../src/engine/checkpoints/thread-session.ts';
import { codec, ThreadSavers } from './checkpoints/thread-savers.ts';
import { chatInput, long, type PruningServer, startPruningServer } from './pruning-server.ts';
import { everyRow } from '../src/storage/postgres/row-filter.ts';
import { fixture } from './fixture.ts';

const pruning = fixture(() => startPruningServer());
let server: PruningServer['server'];
let storage: PruningServer['storage'];
let client: PruningServer['client'];
let newThread: PruningServer['newThread'];
let keepLatest: PruningServer['keepLatest'];
let collect: PruningServer['collect'];
let history: PruningServer['history'];
beforeAll(async () => {
  ({ server, storage, client, newThread, keepLatest, collect, history } = pruning);
});

const one = async <T>(name: string, text: string, values: unknown[]): Promise<T> =>
  (await server.database.query<T>({ name, text }, values))[0] as T;
const spaceOf = async (thread_id: string): Promise<string> =>
  (await storage.checkpoints.findSpace(thread_id)) ?? '';
const bytesOf = async (thread_id: string): Promise<number> => {
  const text = `select coalesce(sum(pg_column_size(b.*)), 0) as bytes from blobs b where b.space = $1`;
  return (await one<{ bytes: number }>('bytes', text, [await spaceOf(thread_id)])).bytes;
};
const namespacesOf = async (thread_id: string): Promise<number> =>
  (
    await one<{ n: number }>('heads', `select count(*) as n from checkpoint_heads where thread_id = $1`, [
      thread_id,
    ])
  ).n;

/** The state without its ancestry. */
const stateOf = async (thread_id: string) => {
  const {
    parent_checkpoint: _,
    parent_checkpoint_id: _id,
    ...state
  } = await client.threads.getState(thread_id, {
    subgraphs: true,
  });
  const bare = (tasks: typeof state.tasks): unknown =>
    tasks.map((task) => ({
      ...task,
      state: task.state && {
        ...task.state,
        parent_checkpoint: null,
        parent_checkpoint_id: null,
        tasks: bare(task.state.tasks),
      },
    }));
  const { status, interrupts, values } = await client.threads.get(thread_id);
  return { state: { ...state, tasks: bare(state.tasks) }, thread: { status, interrupts, values } };
};

/** Prunes and collects, and asserts that the state is unchanged. */
const pruneUnchanged = async (thread_id: string): Promise<void> => {
  const before = await stateOf(thread_id);
  expect(await keepLatest(thread_id)).toBe(1);
  expect(await collect()).toBe(true);
  expect(await stateOf(thread_id)).toEqual(before);
};

/** Lets a run of the graph `barrier` end, and waits for its end. */
const passBarrier = async (thread_id: string, run_id: string): Promise<void> => {
  await client.store.put(['barriers'], run_id, {});
  await client.runs.join(thread_id, run_id);
};

describe('keep_latest', () => {
  it('keeps the state and one entry of history, and runs continue from there', async () => {
    const thread_id = await newThread();
    for (const text of ['one', 'two', 'three'])
      await client.runs.wait(thread_id, 'chat', { input: chatInput(text) });
    const bytes = await bytesOf(thread_id);
    await pruneUnchanged(thread_id);
    expect(await history(thread_id)).toHaveLength(1);
    expect(await bytesOf(thread_id)).toBeLessThan(bytes);
    const values = await client.runs.wait<{ messages: unknown[] }>(thread_id, 'chat', {
      input: chatInput('four'),
    });
    expect(values.messages).toHaveLength(8);
    expect(await history(thread_id)).toHaveLength(4);
  });

  it.each([
    ['approval', {}],
    ['nested', {}],
    ['stateful', { log: [] }],
    ['functional', { log: [long('x')] }],
  ])('lets %s resume its interrupt', async (graph, input) => {
    const thread_id = await newThread();
    await client.runs.wait(thread_id, graph, { input });
    await client.runs.wait(thread_id, graph, { command: { resume: long('first') } });
    await client.runs.wait(thread_id, graph, { input });
    const twin = (await client.threads.copy(thread_id)).thread_id;
    await pruneUnchanged(thread_id);
    expect(await history(thread_id)).toHaveLength(1);
    const [resumed, other] = await Promise.all(
      [thread_id, twin].map((id) => client.runs.wait(id, graph, { command: { resume: long('again') } })),
    );
    expect(resumed).toEqual(other);
    expect(JSON.stringify(resumed)).toContain('again');
    await pruneUnchanged(thread_id);
    // The third run returns what subgraphs remember of the first two.
    await client.runs.wait(thread_id, graph, { input });
    await client.runs.wait(twin, graph, { input });
    expect((await client.threads.getState(thread_id)).values).toEqual(
      (await client.threads.getState(twin)).values,
    );
  });

  it('deletes the state of finished subgraphs, and keeps that of an interrupted one', async () => {
    const thread_id = await newThread();
    for (let round = 0; round < 3; round++) {
      await client.runs.wait(thread_id, 'nested', { input: {} });
      await client.runs.wait(thread_id, 'nested', { command: { resume: 'yes' } });
    }
    expect(await namespacesOf(thread_id)).toBe(4);
    await keepLatest(thread_id);
    expect(await namespacesOf(thread_id)).toBe(1);
    await client.runs.wait(thread_id, 'nested', { input: {} });
    await keepLatest(thread_id);
    expect(await namespacesOf(thread_id)).toBe(2);
  });

  it('keeps the deltas that a value is rebuilt from, and no more', async () => {
    const thread_id = await newThread();
    const input = (text: string) => ({ messages: [{ role: 'user', id: text, content: text }], note: text });
    let texts: string[] = [];
    for (let round = 0; round < 9; round++) {
      const { seen } = await client.runs.wait<{ seen: string }>(thread_id, 'delta', {
        input: input(`u${round}`),
      });
      texts = [...texts, `u${round}`];
      expect(seen, `round ${round}`).toBe(texts.join(' '));
      texts.push('yes');
      await keepLatest(thread_id);
      expect(await collect()).toBe(true);
      expect((await history(thread_id)).length).toBeLessThan(8);
    }
  });

  it('does not touch a thread in use', async () => {
    const thread_id = await newThread();
    await client.runs.wait(thread_id, 'probe', { input: { do: 'date' } });
    const before = (await history(thread_id)).length;
    const run = await client.runs.create(thread_id, 'barrier', { input: {} });
    expect(await keepLatest(thread_id)).toBe(0);
    await passBarrier(thread_id, run.run_id);
    expect((await history(thread_id)).length).toBeGreaterThan(before);
    expect(await keepLatest(thread_id)).toBe(1);
  });

  it('deletes many checkpoints in several steps', async () => {
    const thread_id = await newThread();
    for (const text of ['a', 'b', 'c']) await client.runs.wait(thread_id, 'chat', { input: chatInput(text) });
    const before = await stateOf(thread_id);
    const { checkpoint_id } = before.state;
    const kept = [{ checkpoint_ns: '', checkpoint_id: checkpoint_id ?? '' }];
    const outcomes: string[] = [];
    do {
      const mark = (await storage.pruning.findMark(thread_id, everyRow)) ?? '';
      outcomes.push(await storage.pruning.prune(thread_id, { mark, kept }, 3));
      expect(await stateOf(thread_id)).toEqual(before);
    } while (outcomes.at(-1) === 'more');
    expect(outcomes).toEqual(['more', 'more', 'done']);
    expect(await storage.pruning.prune(thread_id, { mark: 'old', kept }, 3)).toBe('changed');
  });
});

describe('delete', () => {
  it('returns the number of deleted threads, counts each once, and stops their runs', async () => {
    const thread_id = await newThread();
    const run = await client.runs.create(thread_id, 'probe', { input: { do: 'sleep', ms: 60_000 } });
    const other = await newThread();
    const stock = new StockClient({ apiUrl: server.url });
    expect(await stock.threads.prune([thread_id, thread_id, other, randomUUID()])).toEqual({
      pruned_count: 2,
    });
    for (const id of [thread_id, other]) {
      await expect(client.threads.get(id)).rejects.toMatchObject({ status: 404 });
    }
    await expect(client.runs.get(thread_id, run.run_id)).rejects.toMatchObject({ status: 404 });
    expect(await stock.threads.prune([], { strategy: 'keep_latest' })).toEqual({ pruned_count: 0 });
  });

  it('of more than a thousand threads, or of an invalid id, is rejected', async () => {
    for (const thread_ids of [Array.from({ length: 1_001 }, () => randomUUID()), ['x'], 'all', null]) {
      expect((await server.call('POST', '/threads/prune', { thread_ids })).status).toBe(422);
    }
    const strategy = 'keep_oldest';
    expect((await server.call('POST', '/threads/prune', { thread_ids: [], strategy })).status).toBe(422);
  });
});

describe('stored values', () => {
  it('that a copy shares are kept for it', async () => {
    const thread_id = await newThread();
    for (const text of ['a', 'b']) await client.runs.wait(thread_id, 'chat', { input: chatInput(text) });
    const copy = (await client.threads.copy(thread_id)).thread_id;
    const past = await history(copy);
    const bytes = await bytesOf(copy);
    await pruneUnchanged(thread_id);
    expect(await history(copy)).toEqual(past);
    expect(await bytesOf(copy)).toBe(bytes);
    await client.threads.delete(thread_id);
    expect(await collect()).toBe(true);
    expect(await history(copy)).toEqual(past);
    await keepLatest(copy);
    expect(await collect()).toBe(true);
    expect(await bytesOf(copy)).toBeLessThan(bytes);
  });

  it('of a deleted copy are deleted while other threads of the blob space exist', async () => {
    const thread_id = await newThread();
    await client.runs.wait(thread_id, 'chat', { input: chatInput('a') });
    expect(await collect()).toBe(true);
    const bytes = await bytesOf(thread_id);
    const copy = (await client.threads.copy(thread_id)).thread_id;
    await client.runs.wait(copy, 'chat', { input: chatInput('only in the copy') });
    expect(await bytesOf(thread_id)).toBeGreaterThan(bytes);
    await client.threads.delete(copy);
    expect(await collect()).toBe(true);
    expect(await bytesOf(thread_id)).toBe(bytes);
  });

  it('are kept while a run in the blob space is in flight, or is just being claimed', async () => {
    const thread_id = await newThread();
    for (const text of ['a', 'b']) await client.runs.wait(thread_id, 'chat', { input: chatInput(text) });
    const copy = (await client.threads.copy(thread_id)).thread_id;
    const space = await spaceOf(copy);
    await keepLatest(thread_id);
    const run = await client.runs.create(copy, 'barrier', { input: {} });
    expect(await storage.pruning.collect(space, 10)).toBeNull();
    await passBarrier(copy, run.run_id);

    await client.runs.create(copy, 'chat', { input: chatInput('c'), after_seconds: 3_600 });
    expect(await storage.pruning.collect(space, 10)).not.toBeNull();
    await server.database.transact(async (tx) => {
      await tx.script(`select 1 from runs where thread_id = '${copy}' and status = 'pending' for update`);
      expect(await storage.pruning.collect(space, 10)).toBeNull();
    });
    await server.database.transact(async (tx) => {
      await tx.script(`select 1 from threads where thread_id = '${copy}' for share`);
      expect(await storage.pruning.collect(space, 10)).toBeNull();
    });
  });

  it('are collected soon after checkpoints were deleted, and by the periodic task', async () => {
    const thread_id = await newThread();
    for (const text of ['a', 'b']) await client.runs.wait(thread_id, 'chat', { input: chatInput(text) });
    const bytes = await bytesOf(thread_id);
    await keepLatest(thread_id);
    await server.database.script(
      `update blob_garbage set due_at = now(); update periodic_tasks set next_at = now()`,
    );
    await eventually(async () => expect(await bytesOf(thread_id)).toBeLessThan(bytes));
  });
});

describe('a state update', () => {
  /** A thread of three checkpoints, and an update that has read the first of them. */
  const begun = async (removals?: number) => {
    const thread_id = await newThread();
    const savers = new ThreadSavers(server.database);
    const config = { configurable: { thread_id, checkpoint_ns: '' } };
    const put = (version: number, text: string) => {
      const channel_versions = { text: version };
      const channel_values = { text: long(text) };
      const checkpoint = { ...emptyCheckpoint(), id: uuid6(version), channel_values, channel_versions };
      return savers.put(config, checkpoint, { source: 'loop', step: version, parents: {} });
    };
    const oldest = await put(1, 'first');
    await put(2, 'second');
    await put(3, 'third');
    const session = new ThreadSession({
      owner: { owner: randomUUID(), thread_id, ...(removals === undefined ? {} : { removals }) },
      thread_id,
      blob_space: thread_id,
      head: undefined,
      run_id: null,
      metadata: {},
      sync: true,
      committer: new CommitQueue(storage.checkpoints),
      codec,
      recent: new RecentBlobs(),
      onFailure: () => undefined,
    });
    const saver = new SvcCheckpointer(session, storage.checkpoints);
    await saver.getTuple(config); // reads the head of the thread
    const found = await saver.getTuple(oldest);
    const finish = async (): Promise<void> => {
      const checkpoint = { ...emptyCheckpoint(), id: uuid6(4), channel_versions: { text: 4 } };
      const { channel_values } = found?.checkpoint ?? { channel_values: {} };
      await saver.put(oldest, { ...checkpoint, channel_values }, { source: 'update', step: 2, parents: {} });
    };
    return { thread_id, finish };
  };

  it('whose checkpoint was pruned meanwhile is rejected', async () => {
    const { thread_id, finish } = await begun(0);
    await keepLatest(thread_id);
    expect(await collect()).toBe(true);
    await expect(finish()).rejects.toThrow(LeaseLost);
    expect(await history(thread_id)).toHaveLength(1);
  });

  it('would otherwise refer to deleted values', async () => {
    const { thread_id, finish } = await begun();
    await keepLatest(thread_id);
    expect(await collect()).toBe(true);
    await finish();
    await expect(history(thread_id)).rejects.toMatchObject({ status: 500 });
    await client.threads.delete(thread_id);
  });

  it('on a thread that was not pruned is accepted', async () => {
    const { thread_id, finish } = await begun(0);
    await finish();
    expect((await client.threads.getState(thread_id)).values).toEqual({ text: long('first') });
  });
});
