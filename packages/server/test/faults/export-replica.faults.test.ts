// Exports whose rows are read from a hot standby: no row is missing, and none is there twice, whatever the standby does.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FallbackReason } from '../../src/storage/replica/fallback.ts';
import { ExportReads } from '../../src/storage/replica/export-reads.ts';
import { ReplicaConnections, replicaOptions } from '../../src/storage/replica/replica-connections.ts';
import { primaryPosition } from '../../src/storage/replica/wal-position.ts';
import { eventually } from '../eventually.ts';
import { checkCompleted, folderView } from '../exports/export-audit.ts';
import { type ExportNode, startExportNode } from '../exports/export-node.ts';
import { firstDay, newExport, newPlace, type Place, runsOf, statusOf } from '../exports/export-tables.ts';
import { ExporterPlan, plannedExporter } from '../exports/exporter-plan.ts';
import { addRuns } from '../exports/stored-runs.ts';
import { startReplicaPair } from './replica-pair.ts';
import { openProxy } from './tcp-proxy.ts';
import { fixture } from '../fixture.ts';
import { testFolder } from '../folders.ts';

const pair = fixture(() => startReplicaPair());
let folder: string;
beforeEach(() => {
  folder = testFolder();
});
afterEach(async () => {
  await pair.standby.start();
  await pair.resumeReplay();
});

const startNode = (
  { wait = 60_000, uri = pair.uriOf(), fileSize = 102_400 } = {},
  program?: string,
): Promise<ExportNode> =>
  startExportNode(pair.db, {
    settings: { databaseReplicaUri: uri, replicaExportWaitMs: wait, exportFileBytes: fileSize },
    ...(program ? { program } : {}),
  });

const untilCompleted = (export_id: string): Promise<void> =>
  eventually(async () => expect(await statusOf(pair.db, export_id)).toBe('COMPLETED'));

const fallbacksOf = ({ replicaTally }: ExportNode): [FallbackReason, number][] =>
  [...(replicaTally.fallbacks.get('exports') ?? [])].filter(([, count]) => count > 0);

const readsOf = ({ replicaTally }: ExportNode): number => replicaTally.reads.get('exports') ?? 0;

const placeWith = async (count: number): Promise<Place> => {
  const place = await newPlace(pair.db, folder);
  await addRuns(pair.db, place, { start: firstDay, count });
  return place;
};

/** Resolves when no attempt of the export has failed, and every row is in its files once. */
const checkExport = async (export_id: string, rows: number): Promise<void> => {
  const manifest = await checkCompleted(pair.db, folderView(folder), export_id);
  expect(manifest.rows).toBe(rows);
  for (const run of await runsOf(pair.db, export_id))
    expect(run).toMatchObject({ retry_number: 0, reclaims: 0, errors: {} });
};

describe('a replica that keeps up', () => {
  it('is read for all pages of an export', async () => {
    const place = await placeWith(500);
    await using node = await startNode();
    const id = await newExport(pair.db, place);
    await untilCompleted(id);
    await checkExport(id, 500);
    expect(readsOf(node)).toBeGreaterThan(3);
    expect(fallbacksOf(node)).toEqual([]);
  });

  it('is read while an idle primary has written nothing since the start of the attempt', async () => {
    await using node = await startNode({ wait: 30_000 });
    for (let round = 0; round < 3; round++) {
      const id = await newExport(pair.db, await placeWith(10));
      await untilCompleted(id);
      await checkExport(id, 10);
    }
    expect(fallbacksOf(node)).toEqual([]);
  });
});

describe('a replica that is behind', () => {
  it('is waited for: an export has the rows that the replica lacked at its start', async () => {
    const place = await placeWith(200);
    await pair.caughtUp();
    await pair.pauseReplay();
    await addRuns(pair.db, place, { start: firstDay, count: 300 });
    using plan = new ExporterPlan();
    await using node = await startNode({}, plannedExporter);
    const id = await newExport(pair.db, place);
    await eventually(async () => {
      // The exporter requests the position of the replica.
      const [asking] = await pair.onStandby<{ asked: boolean }>(
        `select bool_or(query like '%pg_last_wal_replay_lsn%') as asked from pg_stat_activity where application_name = 'svc exporter'`,
      );
      expect(asking?.asked).toBe(true);
    });
    expect(plan.count('written')).toBe(0);
    await pair.resumeReplay();
    await untilCompleted(id);
    await checkExport(id, 500);
    expect(readsOf(node)).toBeGreaterThan(3);
    expect(fallbacksOf(node)).toEqual([]);
  });

  it('is not waited for longer than the setting allows: the rows are read from the primary', async () => {
    const place = await placeWith(100);
    await pair.caughtUp();
    await pair.pauseReplay();
    await addRuns(pair.db, place, { start: firstDay, count: 100 });
    await using node = await startNode({ wait: 500 });
    const id = await newExport(pair.db, place);
    await untilCompleted(id);
    await checkExport(id, 200);
    expect(readsOf(node)).toBe(0);
    expect(fallbacksOf(node)).toEqual([['lag', 1]]);
  });

  it('by seconds, under writes, loses no row of many exports', async () => {
    await pair.setStandby('recovery_min_apply_delay', '1500ms');
    try {
      await using node = await startNode({ fileSize: 1_048_576 });
      const place = await placeWith(100);
      const over = new AbortController();
      const writing = (async () => {
        while (!over.signal.aborted) {
          await addRuns(pair.db, place, { start: firstDay, count: 5 });
          await sleep(20);
        }
      })();
      const ids: string[] = [];
      try {
        for (let round = 0; round < 4; round++) {
          const id = await newExport(pair.db, place);
          ids.push(id);
          await untilCompleted(id);
        }
      } finally {
        over.abort();
        await writing;
      }
      // Rows that were stored after the creation of an export are not part of it.
      for (const id of ids) await checkCompleted(pair.db, folderView(folder), id);
      expect(readsOf(node)).toBeGreaterThan(3);
      expect(fallbacksOf(node)).toEqual([]);
    } finally {
      await pair.setStandby('recovery_min_apply_delay', '0');
    }
  });
});

describe('a replica that fails during an export', () => {
  it('between two files is replaced by the primary', async () => {
    const place = await placeWith(500);
    await pair.caughtUp();
    using plan = new ExporterPlan({ step: 'committed', nth: 1, action: 'wait' });
    await using node = await startNode({}, plannedExporter);
    const id = await newExport(pair.db, place);
    await eventually(() => expect(plan.count('committed')).toBe(1));
    await pair.standby.stop('immediate');
    plan.go();
    await untilCompleted(id);
    await checkExport(id, 500);
    expect(readsOf(node)).toBeGreaterThan(0);
    expect(fallbacksOf(node)).toEqual([['unreachable', 1]]);
  });

  it('within a page is replaced by the primary, and the file is written again', async () => {
    await using proxy = await openProxy({ host: '127.0.0.1', port: pair.standby.port });
    await using node = await startNode({ uri: pair.uriOf(proxy.port), fileSize: 10_485_760 });
    const first = await newExport(pair.db, await placeWith(10));
    await untilCompleted(first);
    expect(readsOf(node)).toBe(1);
    // The connection of the exporter stays open for its next command.
    proxy.cutAfter(300_000);
    const id = await newExport(pair.db, await placeWith(1_000));
    await untilCompleted(id);
    await checkExport(id, 1_000);
    expect(readsOf(node)).toBe(1);
    expect(fallbacksOf(node)).toEqual([['unreachable', 1]]);
  });

  it('by not answering within a page is replaced by the primary after a time limit', async () => {
    await using proxy = await openProxy({ host: '127.0.0.1', port: pair.standby.port });
    await using replica = new ReplicaConnections(replicaOptions(pair.uriOf(proxy.port), 1));
    const reasons: FallbackReason[] = [];
    const reads = new ExportReads({
      primary: pair.db,
      replica,
      start: await primaryPosition(pair.db),
      waitMs: 10_000,
      pageMs: 1_000,
      onRead: () => undefined,
      onFallback: (reason) => reasons.push(reason),
      signal: new AbortController().signal,
    });
    await pair.caughtUp();
    const page = reads.transact(async (tx) => {
      const text = 'select pg_is_in_recovery() as on_standby';
      const [row] = await tx.query<{ on_standby: boolean }>({ text }, []);
      if (row?.on_standby === true) {
        proxy.blackhole();
        await tx.query({ text }, []);
      }
      return row;
    });
    expect(await page).toEqual({ on_standby: false });
    expect(reasons).toEqual(['unreachable']);
  });

  it('and is down at its start is not waited for', async () => {
    const place = await placeWith(100);
    await pair.caughtUp();
    await pair.standby.stop('immediate');
    await using node = await startNode();
    const id = await newExport(pair.db, place);
    await untilCompleted(id);
    await checkExport(id, 100);
    expect(fallbacksOf(node)).toEqual([['unreachable', 1]]);
  });
});
