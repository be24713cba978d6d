// Runs after the clock was set back. Their threads have checkpoints of the future, and later attempts must continue the new ones.
import { randomUUID } from 'node:crypto';
import { Annotation, Command, interrupt, START, StateGraph } from '@langchain/langgraph';
import { emptyCheckpoint, uuid6 } from '@langchain/langgraph-checkpoint';
import { Problem } from '@svc/contract/problem';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type BatchItems,
  CommitQueue,
  LeaseLost,
  noItems,
  type Writer,
} from '../../src/engine/checkpoints/commit-queue.ts';
import type { Owner } from '../../src/storage/deployment/checkpoints/checkpoint-rows.ts';
import { checkpointStorage } from '../../src/storage/deployment/checkpoints/checkpoints.ts';
import { runLeaseStorage } from '../../src/storage/deployment/runs/run-leases.ts';
import { runStorage } from '../../src/storage/deployment/runs/runs.ts';
import { threadStorage } from '../../src/storage/deployment/threads/threads.ts';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import { testDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { fixture } from '../fixture.ts';
import { lockWaiters } from '../lock-waiters.ts';
import { claimOf, newAssistant, newRun } from '../runs/run-rows.ts';
import { openAttempt } from './attempt-writer.ts';
import { ThreadSavers } from './thread-savers.ts';

const database = fixture(() => testDatabase());

let savers: ThreadSavers;

afterEach(() => {
  vi.useRealTimers();
});

const Log = Annotation.Root({
  log: Annotation<string[]>({ reducer: (before, after) => [...before, ...after], default: () => [] }),
});

type State = typeof Log.State;

const hour = 3_600_000;

/** A thread with a checkpoint of an hour in the future. */
const futureThread = async (): Promise<{ configurable: { thread_id: string } }> => {
  const config = { configurable: { thread_id: randomUUID() } };
  const graph = new StateGraph(Log)
    .addNode('before', () => ({ log: ['before'] }))
    .addEdge(START, 'before')
    .compile({ checkpointer: savers });
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + hour });
  await graph.invoke({ log: [] }, config);
  vi.useRealTimers();
  return config;
};

/** Another attempt, or another run: nothing is known but what is stored. */
const startOver = async (): Promise<void> => {
  await savers.flush();
  savers.forget();
};

/** `sync`: writes of a task may arrive before its checkpoint, which waits until its parent is stored. */
describe.each([false, true])('after the clock was set back (sync: %s)', (sync) => {
  beforeEach(() => {
    savers = new ThreadSavers(database, { sync });
  });

  it('a task that has finished is not executed again', async () => {
    const config = await futureThread();
    const executed: string[] = [];
    const graph = new StateGraph(Log)
      .addNode('left', () => {
        executed.push('left');
        return { log: ['left'] };
      })
      .addNode('right', async () => {
        executed.push('right');
        await vi.waitFor(() => expect(executed).toContain('left'));
        if (executed.filter((name) => name === 'right').length === 1) throw new Error('the first time');
        return { log: ['right'] };
      })
      .addEdge(START, 'left')
      .addEdge(START, 'right')
      .compile({ checkpointer: savers });
    await expect(graph.invoke({ log: ['in'] }, config)).rejects.toThrow('the first time');
    await startOver();
    expect(await graph.invoke(null, config)).toEqual({ log: ['before', 'in', 'left', 'right'] });
    expect(executed.toSorted()).toEqual(['left', 'right', 'right']);
  });

  it('interrupts are answered by their ids', async () => {
    const config = await futureThread();
    const ask = (name: string) => () => ({ log: [`${name}: ${interrupt<string, string>(name)}`] });
    const graph = new StateGraph(Log)
      .addNode('left', ask('left'))
      .addNode('right', ask('right'))
      .addEdge(START, 'left')
      .addEdge(START, 'right')
      .compile({ checkpointer: savers });
    await graph.invoke({ log: [] }, config);
    await startOver();
    const { tasks } = await graph.getState(config);
    const answers = tasks.flatMap(({ interrupts }) =>
      interrupts.map(({ id = '', value }) => [id, `${value}!`]),
    );
    await startOver();
    const state = await graph.invoke(new Command({ resume: Object.fromEntries(answers) as object }), config);
    expect(state).toEqual({ log: ['before', 'left: left!', 'right: right!'] });
  });

  it('a subgraph continues at its interrupt', async () => {
    const config = await futureThread();
    const executed: string[] = [];
    const note = (name: string, act: () => unknown) => (): Partial<State> => {
      executed.push(name);
      return { log: [`${name} ${String(act())}`] };
    };
    const inner = new StateGraph(Log)
      .addNode(
        'first',
        note('first', () => 'done'),
      )
      .addNode(
        'ask',
        note('ask', () => interrupt('go on?')),
      )
      .addEdge(START, 'first')
      .addEdge('first', 'ask')
      .compile();
    const graph = new StateGraph(Log)
      .addNode('inner', inner)
      .addEdge(START, 'inner')
      .compile({ checkpointer: savers });
    await graph.invoke({ log: [] }, config);
    await startOver();
    await graph.invoke(new Command({ resume: 'yes' }), config);
    expect(executed).toEqual(['first', 'ask', 'ask']);
  });

  it('a checkpoint has the same tasks for every reader', async () => {
    const config = await futureThread();
    const graph = new StateGraph(Log)
      .addNode('only', () => ({ log: ['only'] }))
      .addEdge(START, 'only')
      .compile({ checkpointer: savers });
    await graph.invoke({ log: [] }, config);
    await startOver();
    const results: unknown[] = [];
    for await (const { tasks } of graph.getStateHistory(config))
      results.push(...tasks.filter(({ name }) => name === 'only').map(({ result }) => result));
    expect(results).toEqual([{ log: ['only'] }]);
  });
});

// PostgreSQL refuses a flush, or is too slow for it, because of one writer. The other writers are stored.

const db = fixture(() => testDatabase());

let assistant_id: string;

beforeAll(async () => {
  assistant_id = await newAssistant(db);
});

interface Head {
  checkpoint_ns: string;
  expected: string | null;
}

/** A run with a lease, and a writer of checkpoints in these namespaces. */
const runWith = async (heads: Head[]) => {
  const thread_id = randomUUID();
  const run = { ...newRun(assistant_id, thread_id), claim: true, keyed: false };
  await runStorage(db).create(run);
  const text = { metadata: '{}', body: '{}', channels: '{}', wrote: null, shape: null };
  const places = heads.map(({ checkpoint_ns, expected }) => {
    const place = { thread_id, checkpoint_ns, checkpoint_id: randomUUID() };
    return {
      head: { ...place, expected },
      checkpoint: { ...place, ...text, parent_id: null, run_id: run.run_id },
    };
  });
  const items: BatchItems = {
    ...noItems(),
    heads: places.map(({ head }) => head),
    checkpoints: places.map(({ checkpoint }) => checkpoint),
  };
  const writer: Writer = { owner: { owner: run.run_id, lease_token: 1 }, drain: () => items };
  const storedIn = async (checkpoint_ns: string) =>
    (await checkpointStorage(db).find({ thread_id, checkpoint_ns })) !== undefined;
  return { run_id: run.run_id, thread_id, writer, storedIn };
};

const root: Head = { checkpoint_ns: '', expected: null };

/** Text of this length that PostgreSQL cannot compress. */
const incompressible = (length: number): string => {
  let text = '';
  while (text.length < length) text += randomUUID();
  return text.slice(0, length);
};

describe('a flush with a namespace that is too long for an index', () => {
  it('fails for its writer only, in words that name the fault', async () => {
    const good = await Promise.all([runWith([root]), runWith([root])]);
    const bad = await runWith([{ ...root, checkpoint_ns: incompressible(6_000) }]);
    const queue = new CommitQueue(checkpointStorage(db));
    const failing = expect(queue.commit(bad.writer)).rejects.toThrow(
      'The checkpoint has a name that is too long, or a value that is too large, for the database',
    );
    await Promise.all([...good.map(({ writer }) => queue.commit(writer)), failing]);
    for (const { storedIn } of good) expect(await storedIn('')).toBe(true);
  });

  it('is refused before it is sent', async () => {
    const savers = new ThreadSavers(db);
    const config = { configurable: { thread_id: randomUUID(), checkpoint_ns: 'n'.repeat(3_000) } };
    const put = savers.put(
      config,
      { ...emptyCheckpoint(), id: uuid6(1) },
      { source: 'loop', step: 0, parents: {} },
    );
    await expect(put).rejects.toThrow(/the namespace of the subgraph has 3000 bytes/);
  });
});

describe('a flush that waits too long for one writer', () => {
  it('is sent writer by writer after three tries, and renewals do not wait for it', async () => {
    const slow = await runWith([root]);
    const good = await runWith([root]);
    let flushes = 0;
    const queue = new CommitQueue({
      commit: (batch) => {
        flushes += 1;
        return db.transact(async (tx) => {
          await tx.script('set local statement_timeout = 300');
          return checkpointStorage(tx).commit(batch);
        });
      },
    });
    await db.transact(async (tx) => {
      const text = `insert into checkpoint_heads values ($1, '', $2)`;
      await tx.query({ name: 'hold_head', text }, [slow.thread_id, randomUUID()]);
      const failing = expect(queue.commit(slow.writer)).rejects.toMatchObject({ code: 'unavailable' });
      const storing = queue.commit(good.writer);
      await eventually(async () => expect(await lockWaiters(db)).toHaveLength(1));
      const leases = [slow, good].map(({ run_id }) => ({ id: run_id, lease_token: 1 }));
      const renewed = await db.transact(async (other) => {
        await other.script('set local lock_timeout = 100');
        return runLeaseStorage(other).renew(leases, 60_000);
      });
      expect(renewed).toHaveLength(2);
      await Promise.all([storing, failing]);
    });
    expect(flushes).toBe(7);
    expect(await good.storedIn('')).toBe(true);
    expect(await slow.storedIn('')).toBe(false);
  });
});

describe('an owner of which one head cannot be moved', () => {
  it('moves none', async () => {
    const run = await runWith([root, { checkpoint_ns: 'sub', expected: randomUUID() }]);
    await expect(new CommitQueue(checkpointStorage(db)).commit(run.writer)).rejects.toThrow(LeaseLost);
    const text = 'select checkpoint_ns from checkpoint_heads where thread_id = $1';
    expect(await db.query({ name: 'heads_of', text }, [run.thread_id])).toEqual([]);
  });
});

// The response of a flush is lost, and the flush is sent again. Its writers are told what is stored.

const writerOf = (owner: Owner, items: Partial<BatchItems>): Writer => ({
  owner,
  drain: () => ({ ...noItems(), ...items }),
});

interface Transmission {
  /** Whether the first transmission is stored before its connection ends. */
  isStored: boolean;
  /** What happens before the flush is sent again. */
  meanwhile: () => Promise<unknown>;
}

/** Commits with a connection that ends during the first transmission. */
const commit = (writer: Writer, { isStored, meanwhile }: Transmission): Promise<void> => {
  const storage = checkpointStorage(db);
  let sent = 0;
  const queue = new CommitQueue({
    async commit(batch) {
      sent += 1;
      if (sent > 1) return storage.commit(batch);
      if (isStored) expect(await storage.commit(batch)).toEqual([]);
      await meanwhile();
      throw new Problem('unavailable', 'The connection has ended');
    },
  });
  return queue.commit(writer);
};

const ended = { ending: null, interrupts: null, error: null, values: null, told: false };

const startRun = async (thread_id: string | null) => {
  const run = { ...newRun(assistant_id, thread_id), claim: true, keyed: false };
  expect(await runStorage(db).create(run)).toMatchObject({ outcome: 'created' });
  return run;
};

const leases = () => runLeaseStorage(db);

/** Another process ends the run, which has the lease with this token. */
const endElsewhere = (run_id: string, lease_token: number) =>
  leases().stop({ id: run_id, lease_token }, 'error', 'as_stored', '{"error":"Other","message":"other"}');

describe('a state update', () => {
  const prepare = async () => {
    const thread_id = randomUUID();
    await threadStorage(db).create({ thread_id, metadata: {}, config: {} });
    const checkpoint_id = randomUUID();
    const place = { thread_id, checkpoint_ns: '', checkpoint_id };
    const text = { metadata: '{}', body: '{}', channels: '{}', wrote: null, shape: null };
    const writer = writerOf(
      { owner: randomUUID(), thread_id },
      {
        heads: [{ ...place, expected: null }],
        checkpoints: [{ ...place, parent_id: null, run_id: null, ...text }],
        endings: [{ thread_id, status: null, ...ended }],
      },
    );
    const isStored = async () => (await checkpointStorage(db).find(place)) !== undefined;
    return { thread_id, writer, isStored };
  };

  it('fails when nothing was stored, and a run is in flight meanwhile', async () => {
    const { thread_id, writer, isStored } = await prepare();
    const done = commit(writer, { isStored: false, meanwhile: () => startRun(thread_id) });
    await expect(done).rejects.toThrow(LeaseLost);
    expect(await isStored()).toBe(false);
  });

  it('succeeds when it was stored, and a run is in flight meanwhile', async () => {
    const { thread_id, writer, isStored } = await prepare();
    await commit(writer, { isStored: true, meanwhile: () => startRun(thread_id) });
    expect(await isStored()).toBe(true);
  });

  it('succeeds when it was stored, and the thread was deleted meanwhile', async () => {
    const { thread_id, writer } = await prepare();
    await commit(writer, {
      isStored: true,
      meanwhile: () => threadStorage(db).delete(thread_id, everyRow),
    });
  });
});

describe('a state update of several supersteps', () => {
  it('stores nothing before its end', async () => {
    const thread_id = randomUUID();
    await threadStorage(db).create({ thread_id, metadata: {}, config: {} });
    const queue = new CommitQueue(checkpointStorage(db));
    const update = openAttempt({ queue, owner: { owner: randomUUID(), thread_id }, thread_id, run_id: null });
    const headId = () => checkpointStorage(db).findHeadId(thread_id, '');
    await update.store('step');
    await update.session.flush();
    await update.store('step');
    await update.session.flush();
    expect(await headId()).toBe(null);
    await update.end();
    expect(await headId()).not.toBe(null);
  });
});

describe.each(['on a thread', 'without a thread'])('the end of a run %s', (kind) => {
  const prepare = async () => {
    const thread_id = kind === 'on a thread' ? randomUUID() : null;
    const { run_id } = await startRun(thread_id);
    const owner = { owner: run_id, lease_token: 1 };
    const ending = { thread_id: thread_id ?? run_id, status: 'success', ...ended };
    return { run_id, thread_id, writer: writerOf(owner, { endings: [ending] }) };
  };

  it('is acknowledged when it was stored', async () => {
    const { writer } = await prepare();
    await commit(writer, { isStored: true, meanwhile: () => Promise.resolve() });
  });

  it('is not acknowledged when another process has ended the run with the same lease', async () => {
    const { run_id, writer } = await prepare();
    const done = commit(writer, { isStored: false, meanwhile: () => endElsewhere(run_id, 1) });
    await expect(done).rejects.toThrow(LeaseLost);
  });

  it('is not acknowledged when the run was released, and cancelled before another claim', async () => {
    const { run_id, thread_id, writer } = await prepare();
    const done = commit(writer, {
      isStored: false,
      meanwhile: async () => {
        await leases().release([{ id: run_id, lease_token: 1 }], {
          charge: false,
          lost: false,
          reason: 'test',
        });
        const thread = thread_id ?? (await threadOf(run_id));
        await runStorage(db).cancel(thread, [run_id], {
          action: 'interrupt',
          reason: 'test',
          access: everyRow,
        });
      },
    });
    await expect(done).rejects.toThrow(LeaseLost);
  });

  it('is not acknowledged when a later attempt has ended the run', async () => {
    const { run_id, writer } = await prepare();
    const done = commit(writer, {
      isStored: false,
      meanwhile: async () => {
        await leases().release([{ id: run_id, lease_token: 1 }], {
          charge: false,
          lost: false,
          reason: 'test',
        });
        const { runs } = await leases().claim(claimOf(100));
        const claimed = runs.find((run) => run.run_id === run_id);
        await endElsewhere(run_id, claimed?.lease_token ?? 0);
      },
    });
    await expect(done).rejects.toThrow(LeaseLost);
  });
});

const threadOf = async (run_id: string): Promise<string> => {
  const text = 'select thread_id from runs where run_id = $1';
  const [row] = await db.query<{ thread_id: string }>({ name: 'thread_of', text }, [run_id]);
  return row!.thread_id;
};

describe('records of stored ends', () => {
  it('are deleted when they are old, and not kept for writers that may not write', async () => {
    const storage = checkpointStorage(db);
    await storage.pruneEndings(0, 1_000);
    const { run_id } = await startRun(null);
    const thread_id = await threadOf(run_id);
    const batchOf = (lease_token: number) => ({
      ...noItems(),
      owners: [{ owner: run_id, lease_token }],
      endings: [{ owner: run_id, thread_id, status: 'success', ...ended }],
    });
    expect(await storage.commit(batchOf(7))).toEqual([run_id]);
    expect(await storage.commit(batchOf(1))).toEqual([]);
    expect(await storage.pruneEndings(60_000, 1_000)).toBe(0);
    expect(await storage.pruneEndings(0, 1_000)).toBe(1);
  });
});
