// A thread whose runs are executed by the test: the test decides what an executor would store.
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { noItems } from '../../src/engine/checkpoints/commit-queue.ts';
import { checkpointStorage } from '../../src/storage/deployment/checkpoints/checkpoints.ts';
import type { CheckpointBatch } from '../../src/storage/deployment/checkpoints/checkpoint-rows.ts';
import type { Database } from '../../src/storage/postgres/database.ts';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import { runLeaseStorage } from '../../src/storage/deployment/runs/run-leases.ts';
import { runStorage } from '../../src/storage/deployment/runs/runs.ts';
import type { CancelAction } from '../../src/storage/deployment/runs/run-rows.ts';
import { claimOf, newRun } from '../runs/run-rows.ts';
import { threadRows, type ThreadRows } from './thread-rows.ts';

/** A checkpoint id. Later checkpoints may have smaller ids, as on nodes whose clocks differ. */
export const at = (place: number): string => `00000000-0000-6000-8000-${String(place).padStart(12, '0')}`;

export interface Stored {
  /** Checkpoints in the order in which they are stored, each with its parent. */
  checkpoints?: { id: string; after: string | null; ns?: string; tasks?: string[] }[];
  /** Previous head of each namespace, as a session records it with its first checkpoint there. */
  found?: Record<string, string>;
  writes?: { on: string; ns?: string; task: string; channel: string; idx: number; value: unknown }[];
  ends?: { status: string; ending: string | null; interrupts?: string; error?: string };
}

export class ScriptedThread {
  readonly thread_id = randomUUID();
  readonly #db: Database;
  readonly #assistant_id: string;
  readonly #heads = new Map<string, string>();

  constructor(db: Database, assistant_id: string) {
    this.#db = db;
    this.#assistant_id = assistant_id;
  }

  /** Creates a run; `claim` also claims it. */
  async run({ claim = true } = {}): Promise<string> {
    const run = { ...newRun(this.#assistant_id, this.thread_id), claim, keyed: false };
    expect(await runStorage(this.#db).create(run)).toMatchObject({ outcome: 'created' });
    await this.readHeads();
    return run.run_id;
  }

  /** Claims all runnable runs and returns the lease token of the given run. */
  async claim(run_id: string): Promise<number> {
    const { runs } = await runLeaseStorage(this.#db).claim(claimOf(100, { leaseMs: 600_000 }));
    await this.readHeads();
    return runs.find((run) => run.run_id === run_id)?.lease_token ?? 0;
  }

  release(run_id: string, lease_token: number, charge: boolean): Promise<void> {
    return runLeaseStorage(this.#db).release([{ id: run_id, lease_token }], {
      charge,
      lost: charge,
      reason: 'scripted',
    });
  }

  cancel = (run_id: string, action: CancelAction) =>
    runStorage(this.#db).cancel(this.thread_id, [run_id], { action, reason: 'asked', access: everyRow });

  delete = (run_id: string) => runStorage(this.#db).delete(run_id, this.thread_id, everyRow);

  rows = (): Promise<ThreadRows> => threadRows(this.#db, this.thread_id);

  /** Reloads the heads that this object tracks. */
  async readHeads(): Promise<void> {
    this.#heads.clear();
    const text = 'select checkpoint_ns, checkpoint_id from checkpoint_heads where thread_id = $1';
    const rows = await this.#db.query<{ checkpoint_ns: string; checkpoint_id: string }>(
      { name: 'scripted_heads', text },
      [this.thread_id],
    );
    for (const { checkpoint_ns, checkpoint_id } of rows) this.#heads.set(checkpoint_ns, checkpoint_id);
  }

  /** One flush of a run. */
  async flush(run_id: string, stored: Stored, lease_token = 1): Promise<void> {
    const lost = await checkpointStorage(this.#db).commit({
      ...this.#batch(run_id, run_id, stored),
      owners: [{ owner: run_id, lease_token }],
    });
    expect(lost).toEqual([]);
  }

  /** A state update: a checkpoint with the given parent. */
  async update(id: string, after: string): Promise<void> {
    const owner = randomUUID();
    const ends = { status: null, ending: null, interrupts: '{}', error: null, values: null, told: false };
    const lost = await checkpointStorage(this.#db).commit({
      ...this.#batch(owner, null, { checkpoints: [{ id, after }] }),
      owners: [{ owner, thread_id: this.thread_id }],
      endings: [{ owner, thread_id: this.thread_id, ...ends }],
    });
    expect(lost).toEqual([]);
  }

  #batch(owner: string, run_id: string | null, { checkpoints = [], found = {}, writes = [], ends }: Stored) {
    const place = (ns: string, checkpoint_id: string) => ({
      owner,
      thread_id: this.thread_id,
      checkpoint_ns: ns,
      checkpoint_id,
    });
    const heads: CheckpointBatch['heads'] = [];
    for (const { id, ns = '' } of checkpoints) {
      const moved = heads.find((head) => head.checkpoint_ns === ns);
      if (moved) moved.checkpoint_id = id;
      else heads.push({ ...place(ns, id), expected: this.#heads.get(ns) ?? null });
      this.#heads.set(ns, id);
    }
    return {
      ...noItems(),
      heads,
      checkpoints: checkpoints.map(({ id, after, ns = '', tasks = [] }) => ({
        ...place(ns, id),
        parent_id: after,
        run_id,
        metadata: '{}',
        body: '{}',
        channels: '{}',
        wrote: null,
        shape: JSON.stringify({ tasks: tasks.map((task) => ({ id: task, name: task })) }),
        ...(found[ns] ? { found_head: found[ns] } : {}),
      })),
      writes: writes.map(({ on, ns = '', task, channel, idx, value }) => ({
        ...place(ns, on),
        task_id: task,
        idx,
        channel,
        task_path: null,
        ref: `=${JSON.stringify(value)}`,
      })),
      endings: ends
        ? [
            {
              owner,
              thread_id: this.thread_id,
              interrupts: '{}',
              error: null,
              values: null,
              told: false,
              ...ends,
            },
          ]
        : [],
    };
  }
}
