// Random writers of one commit queue, while connections end before and after commits, statements are too slow, leases are lost and
// writers have items that PostgreSQL refuses. Afterwards the database is compared with the results that the writers got.
import { randomUUID } from 'node:crypto';
import { Problem } from '@svc/contract/problem';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { CheckpointNotStored } from '../../src/engine/checkpoints/checkpoint-not-stored.ts';
import { CommitQueue, LeaseLost } from '../../src/engine/checkpoints/commit-queue.ts';
import { checkpointStorage } from '../../src/storage/deployment/checkpoints/checkpoints.ts';
import type { CheckpointBatch } from '../../src/storage/deployment/checkpoints/checkpoint-rows.ts';
import { runLeaseStorage } from '../../src/storage/deployment/runs/run-leases.ts';
import { runStorage } from '../../src/storage/deployment/runs/runs.ts';
import { threadStorage } from '../../src/storage/deployment/threads/threads.ts';
import { isUnavailable } from '../../src/storage/postgres/sql-state.ts';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import { testDatabase } from '../database.ts';
import { claimOf, newAssistant, newRun } from '../runs/run-rows.ts';
import { scaled } from '../speed.ts';
import { type AttemptWriter, openAttempt, type Step } from './attempt-writer.ts';
import { fixture } from '../fixture.ts';

const db = fixture(() => testDatabase());
let assistant_id: string;
beforeAll(async () => {
  assistant_id = await newAssistant(db);
});

type Kind = 'run' | 'stateless' | 'update';
/** What another process does to a writer: it ends the run, releases it, or claims it after that; or it creates a run on the thread of an update. */
type Interference = 'end' | 'release' | 'claim';

interface WriterPlan {
  kind: Kind;
  steps: { step: Step; isAwaited: boolean }[];
}

/** One transmission of a flush to PostgreSQL. `before`, `after`: its connection ends before or after the commit. */
interface Transmission {
  fault: 'none' | 'before' | 'after' | 'slow';
  interference: { writer: number; how: Interference } | null;
}

interface Writer {
  plan: WriterPlan;
  owner: string;
  thread_id: string;
  attempt: AttemptWriter;
  isDisturbed: boolean;
  /** Supersteps that were acknowledged. */
  acknowledged: number;
}

const query = <Row>(text: string, values: unknown[]): Promise<Row[]> => db.query<Row>({ text }, values);

const openWriter = async (plan: WriterPlan, queue: CommitQueue): Promise<Writer> => {
  const isStateless = plan.kind === 'stateless';
  if (plan.kind === 'update') {
    const thread_id = randomUUID();
    const owner = randomUUID();
    await threadStorage(db).create({ thread_id, metadata: {}, config: {} });
    const attempt = openAttempt({ queue, owner: { owner, thread_id }, thread_id, run_id: null });
    return { plan, owner, thread_id, attempt, isDisturbed: false, acknowledged: 0 };
  }
  const run = { ...newRun(assistant_id, isStateless ? null : randomUUID()), claim: true, keyed: false };
  const log = isStateless ? run.log : 'events';
  await runStorage(db).create({ ...run, log, resumable: !isStateless });
  const { run_id } = run;
  const [row] = await query<{ thread_id: string }>('select thread_id from runs where run_id = $1', [run_id]);
  const thread_id = row!.thread_id;
  const attempt = openAttempt({ queue, owner: { owner: run_id, lease_token: 1 }, thread_id, run_id });
  return { plan, owner: run_id, thread_id, attempt, isDisturbed: false, acknowledged: 0 };
};

const disturb = async (writer: Writer, how: Interference): Promise<void> => {
  writer.isDisturbed = true;
  if (writer.plan.kind === 'update') {
    const run = { ...newRun(assistant_id, writer.thread_id), claim: true, keyed: false };
    await runStorage(db).create(run);
    return;
  }
  const lease = { id: writer.owner, lease_token: 1 };
  const leases = runLeaseStorage(db);
  if (how === 'end') return leases.stop(lease, 'error', 'as_stored', '{"error":"Other","message":"other"}');
  await leases.release([lease], { charge: false, lost: false, reason: 'model' });
  if (how === 'claim') await leases.claim(claimOf(1_000, { leaseMs: 600_000 }));
  else
    await runStorage(db).cancel(writer.thread_id, [writer.owner], {
      action: 'interrupt',
      reason: 'model',
      access: everyRow,
    });
};

/** Storage with the faults of the plan. After the plan, nothing fails. */
const faultyStorage = (plan: Transmission[], writers: Writer[]) => {
  const storage = checkpointStorage(db);
  const left = [...plan];
  const broken = (): Problem =>
    new Problem('unavailable', 'The connection has ended', { cause: new Error('ECONNRESET') });
  const commit = async (batch: CheckpointBatch): Promise<string[]> => {
    const { fault, interference } = left.shift() ?? { fault: 'none', interference: null };
    const disturbed = interference && writers[interference.writer % writers.length];
    const meanwhile = async (): Promise<void> => {
      if (disturbed) await disturb(disturbed, interference.how);
    };
    if (fault === 'slow') {
      await meanwhile();
      return db.transact(async (tx) => {
        await tx.script('set local statement_timeout = 1; select pg_sleep(10)');
        return [];
      });
    }
    if (fault === 'before') {
      await meanwhile();
      throw broken();
    }
    const lost = await storage.commit(batch);
    await meanwhile();
    if (fault === 'after') throw broken();
    return lost;
  };
  return { commit, endFaults: () => void left.splice(0) };
};

/** Executes the plan of a writer. Returns the error that it got; undefined when its end was acknowledged. */
const execute = async (writer: Writer): Promise<unknown> => {
  const { attempt, plan } = writer;
  try {
    if (plan.kind !== 'stateless')
      for (const { step, isAwaited } of plan.steps) {
        await attempt.store(step);
        if (isAwaited && plan.kind === 'run') {
          const { steps } = attempt;
          await attempt.session.flush();
          writer.acknowledged = steps;
        } else await new Promise(setImmediate);
      }
    const { steps } = attempt;
    await attempt.end();
    writer.acknowledged = steps;
    return undefined;
  } catch (error) {
    return error;
  } finally {
    attempt.session.seal();
    attempt.events?.close();
  }
};

const storedSteps = async ({ thread_id }: Writer): Promise<number[]> => {
  const rows = await query<{ metadata: string }>(
    `select metadata from checkpoints where thread_id = $1 and checkpoint_ns = '' order by checkpoint_id`,
    [thread_id],
  );
  return rows.map(({ metadata }) => (JSON.parse(metadata) as { step: number }).step);
};

/** The ids and the steps of the `updates` in the log of a run. */
const loggedSteps = async ({ owner }: Writer): Promise<{ id: number; step: number }[]> => {
  const rows = await query<{ first_id: number; events: string }>(
    'select first_id, events from run_events where run_id = $1 order by first_id, last_id',
    [owner],
  );
  return rows.flatMap(({ first_id, events }) => {
    const lines = events.split('\n');
    return lines.flatMap((event, at) =>
      event === 'updates' && at % 2 === 0 ? [{ id: first_id + at / 2, step: Number(lines[at + 1]) }] : [],
    );
  });
};

const isEndStored = async ({ owner }: Writer): Promise<boolean> =>
  (await query('select 1 from stored_endings where owner = $1 and lease_token in (0, 1)', [owner])).length >
  0;

/** `isSlow`: the database was too slow often enough to fail a writer. */
const check = async (writer: Writer, error: unknown, isSlow: boolean): Promise<void> => {
  const { plan, acknowledged, attempt, isDisturbed } = writer;
  // Acknowledged if and only if stored. The outcome of a writer that failed because of the database is unknown.
  const isUnknown = isUnavailable(error);
  if (!isUnknown) expect(await isEndStored(writer)).toBe(error === undefined);
  const steps = await storedSteps(writer);
  expect(steps).toEqual(steps.map((_, at) => at));
  expect(steps.length).toBeGreaterThanOrEqual(acknowledged);
  if (error === undefined) expect(steps).toHaveLength(attempt.steps);
  if (plan.kind === 'update' && error !== undefined && !isUnknown) expect(steps).toEqual([]);
  // The log and the state are equal.
  if (plan.kind === 'run')
    expect(await loggedSteps(writer)).toEqual(steps.map((step) => ({ id: step, step })));
  // A fault reaches its writer only, and is named.
  const isBad = plan.kind !== 'stateless' && plan.steps.some(({ step }) => step === 'bad');
  if (error === undefined) expect(isBad).toBe(false);
  else if (error instanceof LeaseLost) expect(isDisturbed).toBe(true);
  else if (isUnknown) expect(isSlow).toBe(true);
  else {
    expect(error).toBeInstanceOf(CheckpointNotStored);
    expect(isBad).toBe(true);
  }
};

const step = fc.record({
  step: fc.oneof(
    { arbitrary: fc.constant<Step>('step'), weight: 20 },
    { arbitrary: fc.constant<Step>('bad'), weight: 1 },
    { arbitrary: fc.constant<Step>('large'), weight: 1 },
  ),
  isAwaited: fc.boolean(),
});

const writerPlan: fc.Arbitrary<WriterPlan> = fc.oneof(
  fc.record({ kind: fc.constant<Kind>('run'), steps: fc.array(step, { minLength: 1, maxLength: 6 }) }),
  fc.record({ kind: fc.constant<Kind>('update'), steps: fc.array(step, { minLength: 1, maxLength: 3 }) }),
  fc.record({ kind: fc.constant<Kind>('stateless'), steps: fc.constant<WriterPlan['steps']>([]) }),
);

const transmission: fc.Arbitrary<Transmission> = fc.record({
  fault: fc.constantFrom('none', 'before', 'after', 'slow'),
  interference: fc.option(
    fc.record({ writer: fc.nat(9), how: fc.constantFrom<Interference>('end', 'release', 'claim') }),
    { freq: 3 },
  ),
});

describe('a commit queue with several writers and faults', () => {
  it(
    'acknowledges what is stored, stores logs with states, and fails only the writers at fault',
    async () => {
      const plans = fc.array(writerPlan, { minLength: 1, maxLength: 6 });
      const transmissions = fc.array(transmission, { maxLength: 12 });
      await fc.assert(
        fc.asyncProperty(plans, transmissions, async (given, faults) => {
          const writers: Writer[] = [];
          const storage = faultyStorage(faults, writers);
          const queue = new CommitQueue(storage);
          for (const plan of given) writers.push(await openWriter(plan, queue));
          const errors = await Promise.all(writers.map(execute));
          storage.endFaults();
          // Flushes that nobody awaits have been answered when a later one is.
          const last = await openWriter({ kind: 'update', steps: [] }, queue);
          await last.attempt.store('step');
          await last.attempt.end();
          const isSlow = faults.filter(({ fault }) => fault === 'slow').length >= 3;
          for (const [at, writer] of writers.entries()) await check(writer, errors[at], isSlow);
        }),
        { numRuns: 60, interruptAfterTimeLimit: scaled(120_000) },
      );
    },
    scaled(240_000),
  );
});
