// PostgreSQL refuses a flush, or is too slow for it, because of one writer. The other writers are stored.
import { randomUUID } from 'node:crypto';
import { emptyCheckpoint, uuid6 } from '@langchain/langgraph-checkpoint';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  CommitQueue,
  LeaseLost,
  noItems,
  type BatchItems,
  type Writer,
} from '../../src/engine/checkpoints/commit-queue.ts';
import { checkpointStorage } from '../../src/storage/deployment/checkpoints/checkpoints.ts';
import { runLeaseStorage } from '../../src/storage/deployment/runs/run-leases.ts';
import { runStorage } from '../../src/storage/deployment/runs/runs.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { lockWaiters } from '../lock-waiters.ts';
import { newAssistant, newRun } from '../runs/run-rows.ts';
import { ThreadSavers } from './thread-savers.ts';

let db: TestDatabase;
let assistant_id: string;
beforeAll(async () => {
  db = await testDatabase();
  assistant_id = await newAssistant(db);
});
afterAll(() => db[Symbol.asyncDispose]());

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
