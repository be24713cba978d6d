// Deleting threads and runs while other transactions write to them.
import { beforeAll, describe, expect, it } from 'vitest';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { checkpointStorage } from '../../src/storage/deployment/checkpoints/checkpoints.ts';
import type { Database } from '../../src/storage/postgres/database.ts';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import { runLeaseStorage } from '../../src/storage/deployment/runs/run-leases.ts';
import { runStorage } from '../../src/storage/deployment/runs/runs.ts';
import { threadStorage } from '../../src/storage/deployment/threads/threads.ts';
import { testDatabase } from '../database.ts';
import { until } from '../eventually.ts';
import { scaled } from '../speed.ts';
import { deleteRun } from '../../src/deployment/runs/run-deletion.ts';
import { untilOneWaits } from '../lock-waiters.ts';
import { claimOf, newAssistant, newRun } from './run-rows.ts';
import { fixture } from '../fixture.ts';

const db = fixture(() => testDatabase());
let assistant_id: string;
beforeAll(async () => {
  assistant_id = await newAssistant(db);
});

describe('a thread', () => {
  it('whose owner changes while it is deleted keeps its runs', async () => {
    const thread_id = randomUUID();
    await threadStorage(db).create({ thread_id, metadata: { owner: 'bob' }, config: {} });
    const run = newRun(assistant_id, thread_id);
    await runStorage(db).create(run);
    let deleting: Promise<boolean> | undefined;
    await db.transact(async (tx) => {
      await threadStorage(tx).patch(thread_id, { owner: 'alice' }, everyRow);
      const bobs = { jsonpath: '$.owner == "bob"', isEverything: false };
      deleting = threadStorage(db).delete(thread_id, bobs);
      await untilOneWaits(db);
    });
    expect(await deleting).toBe(false);
    expect(await runStorage(db).listInFlight(thread_id)).toEqual([run.run_id]);
    // A waiting run would keep the runs of the other tests from starting at once.
    await threadStorage(db).delete(thread_id, everyRow);
  });
});

describe('a run', () => {
  /** Checkpoints in the order in which they are created. */
  const ids = [1, 2, 3].map((at) => `00000000-0000-6000-8000-00000000000${at}`) as [string, string, string];
  const [his, first, second] = ids;
  const emptyBatch = { blobs: [], writes: [], summaries: [], events: [] };

  /** One flush of an executor: a checkpoint after another one and, optionally, the end of the run. */
  const flush = async (
    on: Database,
    { run_id: owner, thread_id }: { run_id: string; thread_id: string },
    { id, after, ends = false }: { id: string; after: string | null; ends?: boolean },
  ): Promise<void> => {
    const at = { owner, thread_id, checkpoint_ns: '', checkpoint_id: id };
    const contents = { metadata: '{}', body: '{}', channels: '{}', wrote: null, shape: null };
    const end = { status: 'success', ending: null, interrupts: null, error: null, values: null, told: false };
    const lost = await checkpointStorage(on).commit({
      ...emptyBatch,
      owners: [{ owner, lease_token: 1 }],
      heads: [{ ...at, expected: after }],
      checkpoints: [{ ...at, ...contents, parent_id: after, run_id: owner }],
      endings: ends ? [{ owner, thread_id, ...end }] : [],
    });
    expect(lost).toEqual([]);
  };

  /** An ended run that has left a checkpoint, and the next run on its thread. */
  const twoRuns = async ({ claim }: { claim: boolean }) => {
    const thread_id = randomUUID();
    const over = { ...newRun(assistant_id, thread_id), thread_id };
    await runStorage(db).create({ ...over, claim: true });
    await flush(db, over, { id: his, after: null, ends: true });
    const next = { ...newRun(assistant_id, thread_id), thread_id };
    await runStorage(db).create({ ...next, claim });
    return { over, next };
  };
  /** Deletes with a client that does not retry, so that a deadlock fails the test. */
  const remove = async ({ run_id, thread_id }: { run_id: string; thread_id: string }): Promise<string> => {
    const client = new pg.Client(db.options.connection);
    await client.connect();
    try {
      await client.query('set search_path to svc');
      const text = 'select delete_run($1, $2, $3) as outcome';
      const { rows } = await client.query<{ outcome: string }>(text, [run_id, thread_id, everyRow.jsonpath]);
      return rows[0]?.outcome ?? '';
    } finally {
      await client.end();
    }
  };

  const expectOnlyTheNext = async ({ thread_id }: { thread_id: string }): Promise<void> => {
    const text = `select checkpoint_id, parent_id, h.checkpoint_id is not null as is_head from checkpoints
      left join checkpoint_heads h using (thread_id, checkpoint_ns, checkpoint_id)
      where thread_id = $1 order by checkpoint_id`;
    expect(await db.query({ name: 'chain', text }, [thread_id])).toEqual([
      { checkpoint_id: first, parent_id: null, is_head: false },
      { checkpoint_id: second, parent_id: first, is_head: true },
    ]);
  };

  it('is deleted while the next run stores its first checkpoints, whose history then omits it', async () => {
    const { over, next } = await twoRuns({ claim: true });
    let deleting: Promise<string> | undefined;
    await db.transact(async (tx) => {
      await flush(tx, next, { id: first, after: his });
      deleting = remove(over);
      await untilOneWaits(db);
    });
    expect(await deleting).toBe('deleted');
    await flush(db, next, { id: second, after: first, ends: true });
    await expectOnlyTheNext(over);
  });

  it('is deleted while the next run stores all of its rows, including its end', async () => {
    const { over, next } = await twoRuns({ claim: true });
    let deleting: Promise<string> | undefined;
    await db.transact(async (tx) => {
      await flush(tx, next, { id: first, after: his });
      deleting = remove(over);
      await untilOneWaits(db);
      await flush(tx, next, { id: second, after: first, ends: true });
    });
    expect(await deleting).toBe('deleted');
    await expectOnlyTheNext(over);
  });

  it('is not deleted while a flush has the heads of the thread: the call fails at once, and is repeated until the flush ends', async () => {
    const { over, next } = await twoRuns({ claim: true });
    await flush(db, next, { id: first, after: his });
    let repeated = 0;
    let deleting: Promise<void> | undefined;
    await db.transact(async (tx) => {
      const text = 'select 1 from checkpoint_heads where thread_id = $1 for update';
      await tx.query({ name: 'heads', text }, [over.thread_id]);
      await expect(remove(over)).rejects.toMatchObject({ code: '55P03' });
      const parts = { runs: runStorage(db), onRepeated: () => void repeated++ };
      await expect(deleteRun(over, everyRow, { ...parts, forMs: 0 })).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringMatching(/another run writes to its thread/) as string,
      });
      expect(repeated).toBe(0);
      deleting = deleteRun(over, everyRow, { ...parts, forMs: scaled(60_000) });
      await until(() => repeated >= 3);
    });
    await deleting;
    await flush(db, next, { id: second, after: first, ends: true });
    await expectOnlyTheNext(over);
  });

  it('is deleted while the next run starts and stores its rows', async () => {
    const { over, next } = await twoRuns({ claim: false });
    let deleting: Promise<string> | undefined;
    await db.transact(async (tx) => {
      await db.transact(async (holder) => {
        await holder.query({ name: 'hold', text: 'select 1 from threads where thread_id = $1 for update' }, [
          over.thread_id,
        ]);
        const parts = { runs: runStorage(db), onRepeated: () => {} };
        deleting = deleteRun(over, everyRow, parts).then(() => 'deleted');
        await untilOneWaits(db);
        await runLeaseStorage(db).claim(claimOf(100));
        await flush(tx, next, { id: first, after: his });
      });
      await untilOneWaits(db);
      await flush(tx, next, { id: second, after: first, ends: true });
    });
    expect(await deleting).toBe('deleted');
    await expectOnlyTheNext(over);
  });
});

describe('the log of a run', () => {
  it('is not started for a run that is being deleted', async () => {
    const run = newRun(assistant_id, randomUUID());
    await runStorage(db).create(run);
    let following: Promise<string | undefined> | undefined;
    await db.transact(async (tx) => {
      await threadStorage(tx).delete(run.thread_id ?? '', everyRow);
      following = runStorage(db).follow(run.run_id, 'events', 5);
      await untilOneWaits(db);
    });
    expect(await following).toBeUndefined();
    const text = 'select 1 from run_events where run_id = $1';
    expect(await db.query({ name: 'log', text }, [run.run_id])).toEqual([]);
  });
});
