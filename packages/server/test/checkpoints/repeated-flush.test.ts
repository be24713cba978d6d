// The response of a flush is lost, and the flush is sent again. Its writers are told what is stored.
import { randomUUID } from 'node:crypto';
import { Problem } from '@svc/contract/problem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  CommitQueue,
  LeaseLost,
  noItems,
  type BatchItems,
  type Writer,
} from '../../src/engine/checkpoints/commit-queue.ts';
import { checkpointStorage } from '../../src/storage/deployment/checkpoints/checkpoints.ts';
import type { Owner } from '../../src/storage/deployment/checkpoints/checkpoint-rows.ts';
import { runLeaseStorage } from '../../src/storage/deployment/runs/run-leases.ts';
import { runStorage } from '../../src/storage/deployment/runs/runs.ts';
import { threadStorage } from '../../src/storage/deployment/threads/threads.ts';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { openAttempt } from './attempt-writer.ts';
import { claimOf, newAssistant, newRun } from '../runs/run-rows.ts';

let db: TestDatabase;
let assistant_id: string;
beforeAll(async () => {
  db = await testDatabase();
  assistant_id = await newAssistant(db);
});
afterAll(() => db[Symbol.asyncDispose]());

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
