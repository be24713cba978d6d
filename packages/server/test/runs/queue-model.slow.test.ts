// Random sequences of run operations, sequential and concurrent, leave no run that waits forever.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assistantStorage } from '../../src/storage/deployment/assistants/assistants.ts';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import { runStorage } from '../../src/storage/deployment/runs/runs.ts';
import { threadStorage } from '../../src/storage/deployment/threads/threads.ts';
import { testDatabase } from '../database.ts';
import { QueueWorker, type Claimed } from './queue-worker.ts';
import { newAssistant, newRun } from './run-rows.ts';
import { fixture } from '../fixture.ts';

const db = fixture(() => testDatabase());

const threads = 3;
type Step =
  | { create: number; strategy: string; delayed: boolean; claim: boolean }
  | { stateless: boolean }
  | { claim: number }
  | { end: number }
  | { release: number }
  | { lose: number }
  | { cancel: number; action: 'interrupt' | 'rollback'; all: boolean }
  | { delete: number }
  | { graph: string }
  | { wait: true };

const thread = fc.nat(threads - 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      create: thread,
      strategy: fc.constantFrom('enqueue', 'reject', 'interrupt', 'rollback'),
      delayed: fc.boolean(),
      claim: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ stateless: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ claim: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 2, arbitrary: fc.record({ end: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ release: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ lose: fc.nat(9) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      cancel: thread,
      action: fc.constantFrom<'interrupt' | 'rollback'>('interrupt', 'rollback'),
      all: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ delete: thread }) },
  { weight: 1, arbitrary: fc.record({ graph: fc.constantFrom('agent', 'other') }) },
  { weight: 2, arbitrary: fc.record({ wait: fc.constant<true>(true) }) },
);

/** Threads of one example, and the worker that executes their runs. */
class Example {
  readonly #threads = Array.from({ length: threads }, () => randomUUID());
  readonly worker = new QueueWorker(db, { graphs: ['agent', 'other'], attemptsMax: 1_000 });
  readonly #running: Claimed[] = [];
  #assistant_id = '';

  async open(): Promise<void> {
    this.#assistant_id = await newAssistant(db);
  }

  #take(at: number): Claimed | undefined {
    return this.#running.splice(at % Math.max(this.#running.length, 1), 1)[0];
  }

  async do(one: Step): Promise<void> {
    const runs = runStorage(db);
    if ('create' in one) {
      const run = newRun(this.#assistant_id, this.#threads[one.create] ?? '');
      const made = await runs.create({
        ...run,
        claim: one.claim && !one.delayed,
        metadata: { svc_auth_user_id: `owner ${one.create}` },
        multitask_strategy: one.strategy,
        delayMs: one.delayed ? 60_000 : 0,
        keyed: false,
      });
      if (made.outcome === 'created' && made.status === 'running')
        this.#running.push({ run_id: run.run_id, lease_token: made.lease_token });
    } else if ('stateless' in one) {
      await runs.create({ ...newRun(this.#assistant_id, null), delayMs: one.stateless ? 60_000 : 0 });
    } else if ('claim' in one) {
      const claimed = await this.worker.claim(one.claim);
      this.#running.push(...claimed.filter(({ status }) => status === 'running'));
    } else if ('end' in one) {
      const run = this.#take(one.end);
      if (run) await this.worker.end(run);
    } else if ('release' in one) {
      const run = this.#take(one.release);
      if (run) await this.worker.release(run);
    } else if ('lose' in one) {
      const run = this.#take(one.lose);
      if (!run) return;
      await db.query(
        { name: 'lose', text: `update runs set lease_until = now() - interval '1 s' where run_id = $1` },
        [run.run_id],
      );
      await this.worker.poll();
    } else if ('cancel' in one) {
      const thread_id = this.#threads[one.cancel] ?? '';
      const ids = one.all ? null : (await runs.listInFlight(thread_id)).slice(0, 1);
      await runs.cancel(thread_id, ids, { action: one.action, reason: 'test', access: everyRow });
    } else if ('delete' in one) {
      await threadStorage(db).delete(this.#threads[one.delete] ?? '', everyRow);
    } else if ('graph' in one) {
      await assistantStorage(db).update(this.#assistant_id, { graph_id: one.graph }, everyRow);
    } else {
      // One delayed run becomes due.
      const text = `update runs set not_before = now() where run_id = (
        select run_id from runs where status = 'pending' and assistant_id = $1 and not_before > now() limit 1)`;
      await db.query({ name: 'due', text }, [this.#assistant_id]);
      await this.worker.poll();
    }
  }

  /** Ends everything: running runs, and all runs that can still be claimed. */
  async drain(): Promise<void> {
    for (let run = this.#take(0); run; run = this.#take(0)) await this.worker.end(run);
    const text = `update runs set not_before = now() where assistant_id = $1 and status = 'pending' and not_before > now()`;
    await db.query({ name: 'all_due', text }, [this.#assistant_id]);
    await this.worker.poll();
    for (;;) {
      const claimed = await this.worker.claim(5);
      if (claimed.length === 0) return;
      for (const run of claimed) if (run.status === 'running') await this.worker.end(run);
    }
  }
}

const rows = (text: string): Promise<unknown[]> => db.query({ text }, []);

const expectSound = async (): Promise<void> => {
  const taken = `(status = 'running' or (status = 'pending' and waits_for = 'slot'))`;
  expect(await rows(`select thread_id from runs where ${taken} group by 1 having count(*) > 1`)).toEqual([]);
  expect(await rows(`select run_id from runs where status = 'pending' and waits_for is null`)).toEqual([]);
  const waits = `select r.run_id from runs r where r.status = 'pending' and r.waits_for = 'thread'
    and not exists (select 1 from runs o where o.thread_id = r.thread_id and (o.status = 'running' or (o.status = 'pending' and o.waits_for = 'slot')))`;
  expect(await rows(waits)).toEqual([]);
};

describe('the queue of runs', () => {
  it('holds no run without a reason to wait, after any sequence of steps', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const example = new Example();
        await example.open();
        for (const one of steps) {
          await example.do(one);
          await expectSound();
        }
        await example.drain();
        expect(
          await rows(`select run_id, waits_for from runs where status in ('pending', 'running')`),
        ).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });

  it('holds no run without a reason to wait, after concurrent steps', async () => {
    const actors = fc.array(fc.array(step, { minLength: 5, maxLength: 20 }), { minLength: 3, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(actors, async (all) => {
        const example = new Example();
        await example.open();
        await Promise.all(
          all.map(async (steps) => {
            for (const one of steps) await example.do(one);
          }),
        );
        await expectSound();
        await example.drain();
        expect(
          await rows(`select run_id, waits_for from runs where status in ('pending', 'running')`),
        ).toEqual([]);
      }),
      { numRuns: 15, endOnFailure: true },
    );
  });
});
