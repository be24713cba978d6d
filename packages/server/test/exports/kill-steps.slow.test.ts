// kill -9 of an exporter between every two of its steps: the export completes, with every row once.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { testDatabase } from '../database.ts';
import { describeS3, openGateway, type Gateway } from '../s3/gateway.ts';
import { bucketView, checkCompleted, folderView } from './export-audit.ts';
import { eventually } from '../eventually.ts';
import { type ExportNode, startExportNode } from './export-node.ts';
import { eventsOf, firstDay, newExport, newPlace, type Place, runsOf, statusOf } from './export-tables.ts';
import { ExporterPlan, type Plan, type PlannedStep, plannedExporter } from './exporter-plan.ts';
import { bucketTarget } from './s3-destination.ts';
import { addRuns } from './stored-runs.ts';
import { scaled } from '../speed.ts';
import { fixture } from '../fixture.ts';
import { testFolder } from '../folders.ts';

const steps: [PlannedStep, number][] = [
  ['written', 1],
  ['begun', 1],
  ['uploaded', 1],
  ['verified', 1],
  ['committed', 1],
  ['written', 2],
  ['begun', 2],
  ['uploaded', 2],
  ['verified', 2],
  ['committed', 2],
  ['finished', 1],
  ['manifest composed', 1],
  ['manifest uploaded', 1],
  ['manifest committed', 1],
];

const db = fixture(() => testDatabase());

/** By default one export is killed at every step; one export per step takes minutes: npm run test:exports-durability. */
const isThorough = process.env['SVC_EXPORT_KILL_ROUNDS'] !== undefined;

interface Kill extends Plan {
  nth: number;
}

const kill = ([step, nth]: [PlannedStep, number]): Kill => ({ step, nth, action: 'kill' });

/** At each step once, and at the steps of a file a second time, when the exporter writes a later file. */
const everyKill = [
  kill(['resumed', 1]),
  ...steps.filter(([, nth]) => nth === 1).map(kill),
  kill(['written', 5]),
  kill(['begun', 5]),
  kill(['uploaded', 5]),
  kill(['verified', 3]), // an interrupted upload skips this step
  kill(['committed', 5]),
];

const completeWith = async (place: Place, settings = {}): Promise<string> => {
  await using _node = await startExportNode(db, {
    program: plannedExporter,
    // An expired lease would count as another lost attempt.
    settings: { exportSlots: '1', exportLeaseMs: 3_600_000, ...settings },
  });
  const id = await newExport(db, place);
  await eventually(async () => expect(await statusOf(db, id)).toBe('COMPLETED'), 200_000);
  return id;
};

describe('an export to a folder', () => {
  let folder: string;
  beforeEach(() => {
    folder = testFolder();
  });

  it(
    'completes when its exporter is killed after each of its steps',
    async () => {
      using plan = new ExporterPlan(...everyKill);
      const place = await newPlace(db, folder);
      await addRuns(db, place, { start: firstDay, count: 400 });
      const id = await completeWith(place);
      expect((await checkCompleted(db, folderView(folder), id)).rows).toBe(400);
      expect((await runsOf(db, id))[0]).toMatchObject({ status: 'COMPLETED', retry_number: 0, errors: {} });
      for (const { step, nth } of everyKill) expect(plan.count(step), step).toBeGreaterThanOrEqual(nth);
      const ends = everyKill.filter(({ step }) => step !== 'manifest committed').length;
      expect((await eventsOf(db, id)).filter((type) => type === 'requeued')).toHaveLength(ends);
    },
    scaled(240_000),
  );

  it.runIf(isThorough).each(steps)(
    'completes when its exporter is killed after the step %s, the %ith time',
    async (step, nth) => {
      using plan = new ExporterPlan({ step, nth, action: 'kill' });
      const place = await newPlace(db, folder);
      await addRuns(db, place, { start: firstDay, count: 250 });
      const id = await completeWith(place);
      const manifest = await checkCompleted(db, folderView(folder), id);
      expect(manifest.rows).toBe(250);
      const [run] = await runsOf(db, id);
      // No attempt was charged.
      expect(run).toMatchObject({ status: 'COMPLETED', retry_number: 0, errors: {} });
      if (step !== 'manifest committed') expect(await eventsOf(db, id)).toContain('requeued');
      expect(plan.count(step)).toBeGreaterThanOrEqual(nth);
    },
  );

  it('repeats only what was not committed', async () => {
    using plan = new ExporterPlan({ step: 'written', nth: 3, action: 'kill' });
    const place = await newPlace(db, folder);
    await addRuns(db, place, { start: firstDay, count: 400 });
    const id = await completeWith(place);
    const manifest = await checkCompleted(db, folderView(folder), id);
    expect(plan.count('committed')).toBe(manifest.files.length);
    expect(plan.count('written')).toBe(manifest.files.length + 1);
  });

  it('finishes a started file with the recorded rows, although more would fit by now', async () => {
    using _ = new ExporterPlan({ step: 'begun', nth: 1, action: 'kill' });
    const place = await newPlace(db, folder);
    await addRuns(db, place, { start: firstDay, count: 100 });
    let begun: unknown;
    {
      await using _node = await startExportNode(db, {
        program: plannedExporter,
        settings: { exportSlots: '1', exportFileBytes: 20_480, exportRetries: 0, exportLeaseMs: 3_600_000 },
      });
      const id = await newExport(db, place);
      await eventually(async () => expect(await eventsOf(db, id)).toContain('requeued'));
      begun = (await runsOf(db, id))[0]?.id;
    }
    const [pending] = await db.query<{ id: string; export_id: string; rows: number | null }>(
      {
        name: '',
        text: `select id, export_id, (pending_upload ->> 'rows')::int as rows from export_runs where id = $1`,
      },
      [begun],
    );
    await using _node = await startExportNode(db, { settings: { exportFileBytes: 10_485_760 } });
    await eventually(async () => expect(await statusOf(db, pending!.export_id)).toBe('COMPLETED'));
    const manifest = await checkCompleted(db, folderView(folder), pending!.export_id);
    if (pending!.rows !== null) expect(manifest.files[0]?.rows).toBe(pending!.rows);
    expect(manifest.files.length).toBeGreaterThan(1);
  });
});

describeS3('an export to a bucket', () => {
  let gateway: Gateway;
  let node: ExportNode;
  beforeAll(async () => {
    gateway = await openGateway();
    node = await startExportNode(db, { settings: { exportSlots: '0' } });
    return async () => {
      await node[Symbol.asyncDispose]();
      await gateway[Symbol.asyncDispose]();
    };
  });

  const killedAt = async (...plans: Kill[]): Promise<void> => {
    using plan = new ExporterPlan(...plans);
    const bucket = await gateway.createBucket();
    const place = await newPlace(db);
    const { id: destination_id } = await node.destinations.create(
      place.tenant_id,
      bucketTarget(gateway, bucket),
    );
    await addRuns(db, place, { start: firstDay, count: 400 });
    const id = await completeWith({ ...place, destination_id });
    expect((await checkCompleted(db, bucketView(gateway, bucket), id)).rows).toBe(400);
    expect((await runsOf(db, id))[0]).toMatchObject({ status: 'COMPLETED', retry_number: 0, errors: {} });
    for (const { step, nth } of plans) expect(plan.count(step), step).toBeGreaterThanOrEqual(nth);
  };

  it('completes when its exporter is killed after each of its steps', () => killedAt(...everyKill), 240_000);

  it.runIf(isThorough).each(steps)(
    'completes when its exporter is killed after the step %s, the %ith time',
    (step, nth) => killedAt({ step, nth, action: 'kill' }),
  );
});
