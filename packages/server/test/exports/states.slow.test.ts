// The states of exports and their partition runs, in the database: any commands in any order give the states of the model, and keep its
// invariants.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  exportLeaseStorage,
  type ExportLeaseStorage,
  type FailureCause,
} from '../../src/storage/exports/export-leases.ts';
import type { ExportLease } from '../../src/storage/exports/export-lease.ts';
import { exportStepStorage, type ExportStepStorage } from '../../src/storage/exports/export-steps.ts';
import { exportStorage } from '../../src/storage/exports/exports.ts';
import { toCursor } from '../../src/api/cursor.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { newExport, newPlace, type Place, type RunState, sql } from './export-tables.ts';
import { scaled } from '../speed.ts';

let db: TestDatabase;
let leases: ExportLeaseStorage & ExportStepStorage;
let places: Place[];
beforeAll(async () => {
  db = await testDatabase();
  leases = { ...exportLeaseStorage(db), ...exportStepStorage(db) };
  places = [await newPlace(db), await newPlace(db)];
});
afterAll(() => db[Symbol.asyncDispose]());

const limits = { runsPerExport: 2, exportsPerWorkspace: 2 };
const retry = { retries: 1, retryDelayMs: 3_600_000 };
const times = { timeoutMs: 72 * 3_600_000, runTimeoutMs: 4 * 3_600_000 };
const reclaimsMax = 5;
/** States that the random sequences have reached. */
const reached = new Set<string>();

interface Run {
  status: string;
  retry: number;
  reclaims: number;
  token: number;
  files: number;
  isDue: boolean;
  isExpired: boolean;
  isLate: boolean;
}
interface Export {
  tenant: number;
  status: string;
  runs: Map<string, Run>;
  isOverdue: boolean;
  manifest: {
    isDue: boolean;
    token: number;
    retry: number;
    reclaims: number;
    isHeld: boolean;
    isExpired: boolean;
  } | null;
}
/** The expected state, and every lease that was ever granted. */
interface Model {
  exports: Map<string, Export>;
  held: ExportLease[];
}

const isOver = (status: string): boolean => ['COMPLETED', 'FAILED', 'CANCELLED', 'TIMEDOUT'].includes(status);

const endExport = (model: Export, status: string): void => {
  model.status = status;
  for (const run of model.runs.values())
    if (!isOver(run.status)) run.status = status === 'TIMEDOUT' ? 'TIMEDOUT' : 'CANCELLED';
  if (model.manifest) model.manifest.isHeld = false;
};

const failRun = (of: Export, run: Run, cause: FailureCause): void => {
  if (cause !== 'destination' && run.retry < retry.retries)
    Object.assign(run, { status: 'CREATED', retry: run.retry + 1, reclaims: 0, isDue: false });
  else {
    run.status = cause === 'timeout' ? 'TIMEDOUT' : 'FAILED';
    endExport(of, 'FAILED');
  }
};

const requeueRun = (of: Export, run: Run): void => {
  if (run.reclaims + 1 >= reclaimsMax) failRun(of, run, 'error');
  else Object.assign(run, { status: 'CREATED', reclaims: run.reclaims + 1, isDue: true });
};

const failManifest = (of: Export, cause: FailureCause): void => {
  const manifest = of.manifest!;
  if (cause === 'destination' || manifest.retry >= retry.retries) endExport(of, 'FAILED');
  else Object.assign(manifest, { isHeld: false, retry: manifest.retry + 1, reclaims: 0, isDue: false });
};

const requeueManifest = (of: Export): void => {
  const manifest = of.manifest!;
  if (manifest.reclaims + 1 >= reclaimsMax) failManifest(of, 'error');
  else Object.assign(manifest, { isHeld: false, reclaims: manifest.reclaims + 1, isDue: true });
};

const findRun = (model: Model, lease: ExportLease): [Export, Run] | undefined => {
  for (const of of model.exports.values()) {
    const run = of.runs.get(lease.id);
    if (run) return [of, run];
  }
  return undefined;
};

type Command = fc.AsyncCommand<Model, null>;
const command = (text: string, run: (model: Model) => Promise<void>): Command => ({
  check: () => true,
  toString: () => text,
  async run(model) {
    await run(model);
    await compare(model);
  },
});
/** One of the leases that were ever granted, including stale ones. */
const withLease = (
  text: string,
  pick: number,
  run: (model: Model, lease: ExportLease) => Promise<void>,
): Command =>
  command(`${text}(${pick})`, async (model) => {
    const lease = model.held.at(-1 - (pick % Math.max(1, model.held.length)));
    if (lease) await run(model, lease);
  });
const withExport = (
  text: string,
  pick: number,
  run: (model: Model, id: string, of: Export) => Promise<void>,
): Command =>
  command(`${text}(${pick})`, async (model) => {
    const ids = [...model.exports.keys()];
    const id = ids[pick % Math.max(1, ids.length)];
    if (id !== undefined) await run(model, id, model.exports.get(id)!);
  });

const create = (tenant: number, days: number): Command =>
  command(`create(${tenant}, ${days})`, async (model) => {
    const id = await newExport(db, places[tenant]!, { days });
    const rows = await sql<{ id: string }>(db, 'select id from export_runs where export_id = $1', [id]);
    expect(rows).toHaveLength(days);
    const fresh = (): Run => ({
      status: 'CREATED',
      retry: 0,
      reclaims: 0,
      token: 0,
      files: 0,
      isDue: true,
      isExpired: false,
      isLate: false,
    });
    model.exports.set(id, {
      tenant,
      status: 'CREATED',
      runs: new Map(rows.map((row) => [row.id, fresh()])),
      isOverdue: false,
      manifest: null,
    });
  });

const claim = (count: number): Command =>
  command(`claim(${count})`, async (model) => {
    const { claimed } = await leases.claimPartitionRuns(count, 3_600_000, limits);
    // Which of the claimable runs are claimed is a matter of fairness, tested elsewhere; here only their number counts.
    let room = 0;
    for (const tenant of places.keys()) {
      const mine = [...model.exports.values()].filter((of) => of.tenant === tenant);
      const running = mine.filter(({ status }) => status === 'RUNNING');
      const starting = mine
        .filter(({ status }) => status === 'CREATED')
        .slice(0, Math.max(0, limits.exportsPerWorkspace - running.length));
      for (const { runs } of [...running, ...starting]) {
        const all = [...runs.values()];
        const busy = all.filter(({ status }) => status === 'RUNNING').length;
        const due = all.filter(({ status, isDue }) => status === 'CREATED' && isDue).length;
        room += Math.max(0, Math.min(limits.runsPerExport - busy, due));
      }
    }
    expect(claimed).toHaveLength(Math.min(count, room));
    for (const { lease, export: of, retry_number } of claimed) {
      const run = model.exports.get(of.id)?.runs.get(lease.id);
      if (!run) throw new Error('claimed an unknown run');
      expect({ status: run.status, isDue: run.isDue }).toEqual({ status: 'CREATED', isDue: true });
      expect(lease.lease_token).toBe(run.token + 1);
      expect(retry_number).toBe(run.retry);
      Object.assign(run, { status: 'RUNNING', token: lease.lease_token, isExpired: false, isLate: false });
      model.exports.get(of.id)!.status = 'RUNNING';
      model.held.push(lease);
    }
  });

const claimManifests = (count: number): Command =>
  command(`claimManifests(${count})`, async (model) => {
    const due = [...model.exports.values()].filter(
      ({ status, manifest }) => status === 'RUNNING' && manifest?.isDue && !manifest.isHeld,
    );
    const { claimed } = await leases.claimManifests(count, 3_600_000);
    expect(claimed).toHaveLength(Math.min(count, due.length));
    for (const { lease } of claimed) {
      const { manifest } = model.exports.get(lease.id)!;
      expect(lease.lease_token).toBe(manifest!.token + 1);
      Object.assign(manifest!, { token: lease.lease_token, isHeld: true, isExpired: false });
      model.held.push(lease);
    }
  });

const write = (pick: number): Command =>
  withLease('write', pick, async (model, lease) => {
    if (lease.task !== 'run') return;
    const [, run] = findRun(model, lease)!;
    const isHeld = run.status === 'RUNNING' && run.token === lease.lease_token && !run.isExpired;
    const key = `part-${run.files}-of-${lease.id}`;
    const start_time = `2026-03-01T00:00:${String(run.files).padStart(2, '0')}.000001Z`;
    const pending = {
      target_cursor: toCursor({ start_time, id: lease.id }),
      key,
      rows: 10,
      bytes: 20,
      raw_bytes: 30,
      sha256: 'x',
      min_start_time: start_time,
      max_start_time: start_time,
    };
    expect(await leases.beginFile(lease, pending)).toBe(isHeld);
    expect(await leases.holds(lease)).toBe(isHeld);
    expect(await leases.commitFile(lease, key)).toBe(isHeld);
    // A response that was lost is requested again.
    expect(await leases.commitFile(lease, key)).toBe(isHeld);
    if (isHeld) Object.assign(run, { files: run.files + 1, reclaims: 0 });
  });

const complete = (pick: number): Command =>
  withLease('complete', pick, async (model, lease) => {
    if (lease.task === 'manifest') {
      const of = model.exports.get(lease.id)!;
      const manifest = of.manifest!;
      const isMine = manifest.token === lease.lease_token;
      const isHeld = isMine && manifest.isHeld && !manifest.isExpired;
      const expected = isHeld || (isMine && of.status === 'COMPLETED');
      expect(await leases.completeExport(lease, '{}')).toBe(expected);
      if (isHeld) {
        of.status = 'COMPLETED';
        manifest.isHeld = false;
      }
      return;
    }
    const [of, run] = findRun(model, lease)!;
    const isMine = run.token === lease.lease_token;
    const isHeld = isMine && run.status === 'RUNNING' && !run.isExpired;
    expect(await leases.completePartitionRun(lease)).toBe(isHeld || (isMine && run.status === 'COMPLETED'));
    if (isHeld) {
      run.status = 'COMPLETED';
      if ([...of.runs.values()].every(({ status }) => status === 'COMPLETED'))
        of.manifest = { isDue: true, token: 0, retry: 0, reclaims: 0, isHeld: false, isExpired: false };
    }
  });

const fail = (pick: number, cause: FailureCause): Command =>
  withLease(`fail ${cause}`, pick, async (model, lease) => {
    const status = await leases.fail(lease, { cause, message: `failed: ${cause}` }, retry);
    if (lease.task === 'manifest') {
      const of = model.exports.get(lease.id)!;
      const isHeld = of.manifest!.isHeld && of.manifest!.token === lease.lease_token;
      if (isHeld) failManifest(of, cause);
      expect(status).toBe(isHeld ? of.status : undefined);
      return;
    }
    const [of, run] = findRun(model, lease)!;
    const isHeld = run.status === 'RUNNING' && run.token === lease.lease_token;
    if (isHeld) failRun(of, run, cause);
    expect(status).toBe(isHeld ? run.status : undefined);
  });

const release = (pick: number): Command =>
  withLease('release', pick, async (model, lease) => {
    const done = await leases.requeue(lease, 'the server stopped', retry);
    if (lease.task === 'manifest') {
      const of = model.exports.get(lease.id)!;
      const isHeld = of.manifest!.isHeld && of.manifest!.token === lease.lease_token;
      expect(done).toBe(isHeld);
      if (isHeld) requeueManifest(of);
      return;
    }
    const [of, run] = findRun(model, lease)!;
    const isHeld = run.status === 'RUNNING' && run.token === lease.lease_token;
    expect(done).toBe(isHeld);
    if (isHeld) requeueRun(of, run);
  });

const sweepAll = async (model: Model): Promise<void> => {
  await leases.sweep({ ...times, ...retry });
  for (const of of model.exports.values())
    if (of.status === 'RUNNING' && of.isOverdue) endExport(of, 'TIMEDOUT');
  for (const of of model.exports.values()) {
    for (const run of of.runs.values()) if (run.status === 'RUNNING' && run.isExpired) requeueRun(of, run);
    for (const run of of.runs.values())
      if (run.status === 'RUNNING' && run.isLate) failRun(of, run, 'timeout');
    if (of.manifest?.isHeld && of.manifest.isExpired) requeueManifest(of);
  }
};

/** The worker sends no more renewals. */
const expire = (pick: number): Command =>
  withLease('expire', pick, async (model, { id, task }) => {
    const table = task === 'run' ? 'export_runs' : 'exports';
    await sql(
      db,
      `update ${table} set lease_until = now() - interval '1 s' where id = $1 and lease_until is not null`,
      [id],
    );
    if (task === 'manifest') model.exports.get(id)!.manifest!.isExpired = true;
    else findRun(model, { id } as ExportLease)![1].isExpired = true;
  });

const renew = (pick: number): Command =>
  withLease('renew', pick, async (model, lease) => {
    const ours = await leases.renew([lease], 3_600_000);
    const of = model.exports.get(lease.id);
    const found = of ? of.manifest! : findRun(model, lease)![1];
    const isHeld = of
      ? of.manifest!.isHeld && of.manifest!.token === lease.lease_token
      : (found as Run).status === 'RUNNING' && found.token === lease.lease_token;
    expect([...ours]).toEqual(isHeld ? [lease.id] : []);
    if (isHeld) found.isExpired = false;
  });

const exceedAttemptTime = (pick: number): Command =>
  withLease('exceedAttemptTime', pick, async (model, { id, task }) => {
    if (task !== 'run') return sweepAll(model);
    await sql(
      db,
      `update export_runs set attempt_at = now() - interval '5 h' where id = $1 and status = 'RUNNING'`,
      [id],
    );
    const [, run] = findRun(model, { id } as ExportLease)!;
    if (run.status === 'RUNNING') run.isLate = true;
    await sweepAll(model);
  });

const overdue = (pick: number): Command =>
  withExport('overdue', pick, async (model, id, of) => {
    if (of.status !== 'RUNNING') return;
    await sql(db, `update exports set started_at = now() - interval '73 h' where id = $1`, [id]);
    of.isOverdue = true;
    await sweepAll(model);
  });

const sweep = (): Command => command('sweep', sweepAll);

const cancel = (pick: number): Command =>
  withExport('cancel', pick, async (_, id, of) => {
    expect(await exportStorage(db).cancel(places[of.tenant]!.tenant_id, id)).toBe(of.status);
    if (!isOver(of.status)) endExport(of, 'CANCELLED');
  });

const passTime = (): Command =>
  command('passTime', async (model) => {
    await sql(db, `update export_runs set not_before = now() where status = 'CREATED'`);
    await sql(db, `update exports set not_before = now() where not_before is not null`);
    for (const of of model.exports.values()) {
      for (const run of of.runs.values()) run.isDue = true;
      if (of.manifest) of.manifest.isDue = true;
    }
  });

/** Sequences of many steps, which random sequences rarely contain. */
const inARow = (text: string, steps: () => Command[]): Command => ({
  check: () => true,
  toString: () => text,
  async run(model) {
    for (const step of steps()) await step.run(model, null);
  },
});
const loseAgain = (times: number): Command =>
  inARow(`loseAgain(${times})`, () =>
    Array.from({ length: times }, () => [release(0), claimManifests(1), claim(1)]).flat(),
  );
const completeAll = (): Command =>
  inARow('completeAll', () => [
    passTime(),
    claim(4),
    complete(0),
    complete(1),
    complete(2),
    complete(3),
    claimManifests(1),
  ]);

interface ExportState {
  id: string;
  status: string;
  finished: boolean;
  error: string | null;
  ends: number;
}

const compare = async (model: Model): Promise<void> => {
  const exports = await sql<ExportState>(
    db,
    `select e.id, e.status, e.finished_at is not null as finished, e.error,
      (select count(*) from export_events v where v.export_id = e.id and v.type in ('completed', 'failed', 'cancelled', 'timed_out')) as ends
      from exports e`,
  );
  const runs = await sql<RunState & { files: number; listed: number }>(
    db,
    `select r.id, r.export_id, r.status, r.retry_number, r.reclaims, r.lease_token, r.errors, r.rows_written,
      (select count(*) from export_files f where f.run_id = r.id) as files,
      (select coalesce(sum(f.rows), 0)::bigint from export_files f where f.run_id = r.id) as listed from export_runs r`,
  );
  expect(new Map(exports.map(({ id, status }) => [id, status]))).toEqual(
    new Map([...model.exports].map(([id, { status }]) => [id, status])),
  );
  for (const { status, finished, error, ends } of exports) {
    expect(finished).toBe(isOver(status));
    expect(ends).toBe(isOver(status) ? 1 : 0);
    expect(error !== null).toBe(status === 'FAILED' || status === 'TIMEDOUT');
  }
  for (const run of runs) {
    const of = model.exports.get(run.export_id)!;
    const expected = of.runs.get(run.id)!;
    const { status, retry, token, files, reclaims } = expected;
    const { retry_number, lease_token } = run;
    expect({
      status: run.status,
      retry: retry_number,
      token: lease_token,
      files: run.files,
      reclaims: run.reclaims,
    }).toEqual({ status, retry, token, files, reclaims });
    expect(run.rows_written).toBe(run.listed);
    const isFailed = (status === 'FAILED' || status === 'TIMEDOUT') && `retry_${retry}` in run.errors;
    const keys = Array.from({ length: retry + Number(isFailed) }, (_, index) => `retry_${index}`);
    expect(Object.keys(run.errors).toSorted()).toEqual(keys.toSorted());
    if (isOver(of.status)) expect(isOver(status)).toBe(true);
    if (of.status === 'COMPLETED') expect(status).toBe('COMPLETED');
  }
  for (const { status } of exports) reached.add(status);
  for (const { status } of runs) reached.add(`run ${status}`);
  if ([...model.exports.values()].some(({ manifest }) => manifest && manifest.retry > 0))
    reached.add('manifest retried');
  if ([...model.exports.values()].some(({ manifest }) => manifest && manifest.reclaims > 1))
    reached.add('manifest requeued');
  if (runs.some(({ retry_number }) => retry_number === retry.retries)) reached.add('last attempt');
};

const pick = fc.nat(12);
/** Mostly the newest leases, so that sequences make progress. */
const recent = fc.constantFrom(0, 0, 0, 1, 1, 2);
const cause = fc.constantFrom<FailureCause>('error', 'error', 'error', 'timeout', 'destination');
const often = <T>(times: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T>[] =>
  Array.from({ length: times }, () => arbitrary);
const commands = fc.commands(
  [
    fc.tuple(fc.nat(1), fc.constantFrom(1, 1, 3)).map((args) => create(...args)),
    ...often(5, fc.integer({ min: 1, max: 4 }).map(claim)),
    ...often(3, fc.constant(claimManifests(2))),
    ...often(2, recent.map(write)),
    ...often(5, recent.map(complete)),
    pick.map(write),
    pick.map(complete),
    ...often(
      6,
      fc.tuple(recent, cause).map((args) => fail(...args)),
    ),
    recent.map(release),
    ...often(2, fc.integer({ min: 1, max: 6 }).map(loseAgain)),
    ...often(2, fc.constant(completeAll())),
    recent.map(expire),
    pick.map(renew),
    ...often(3, recent.map(exceedAttemptTime)),
    fc.constant(sweep()),
    fc.oneof({ weight: 1, arbitrary: pick.map(overdue) }, { weight: 1, arbitrary: pick.map(cancel) }),
    ...often(2, fc.constant(passTime())),
  ],
  { maxCommands: 120, size: 'max' },
);

describe('exports and their partition runs', () => {
  const runs = process.env['SVC_MODEL_RUNS'];
  /** A seed whose sequences reach every state; more sequences reach others. */
  const seed = 11;
  it(
    'have the states of the model after any commands',
    async () => {
      await fc.assert(
        fc.asyncProperty(commands, async (generated) => {
          await sql(db, 'delete from exports');
          const model: Model = { exports: new Map(), held: [] };
          // Few random sequences would get as far as a manifest.
          for (const first of [create(0, 1), claim(1), complete(0), claimManifests(1)])
            await first.run(model, null);
          await fc.asyncModelRun(() => ({ model, real: null }), generated);
        }),
        runs === undefined
          ? { numRuns: 25, seed, endOnFailure: true }
          : { numRuns: Number(runs), endOnFailure: true },
      );
      const states = ['CREATED', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED', 'TIMEDOUT'];
      const expectedStates = [
        ...states,
        ...states.map((status) => `run ${status}`),
        'manifest retried',
        'manifest requeued',
        'last attempt',
      ];
      expect(expectedStates.filter((state) => !reached.has(state))).toEqual([]);
    },
    scaled(240_000),
  );
});
