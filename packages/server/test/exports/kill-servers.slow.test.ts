// kill -9 of every process, including PostgreSQL, during exports and ingest: every export completes and contains the rows that existed when
// it was created, once. SVC_EXPORT_KILL_ROUNDS sets the number of rounds.
import { randomBytes, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase } from '../../src/storage/postgres/database.ts';
import { openEmbedded } from '../../src/storage/embedded/embedded.ts';
import { startSvc, type SvcProcess } from '../durability/svc-process.ts';
import { testProject } from '../server.ts';
import { checkCompleted, folderView } from './export-audit.ts';
import { eventually } from '../eventually.ts';
import { sql, statusOf } from './export-tables.ts';
import { scaled } from '../speed.ts';
import { sharedFolder } from '../folders.ts';

const rounds = Number(process.env['SVC_EXPORT_KILL_ROUNDS'] ?? 3);

const limits = { exportLeaseMs: 2_000, exportFileBytes: 204_800, exportRetryDelayMs: 100 };

const dataDir = sharedFolder();
let last: SvcProcess | undefined;
beforeAll(async () => {
  process.env['SVC_EXPORT_SLOTS'] = '2';
});
afterAll(async () => {
  await last?.killAll();
});

const call = async <T>(url: string, key: string, path: string, body: unknown): Promise<T | undefined> => {
  const response = await fetch(`${url}/api/v1${path}`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok && response.status !== 503)
    throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.ok ? ((await response.json()) as T) : undefined;
};

const day = '2026-11-18';
const newRuns = (count: number) =>
  Array.from({ length: count }, () => ({
    id: randomUUID(),
    name: 'x',
    session_name: 'kept',
    inputs: { text: randomBytes(500).toString('hex') },
    start_time: new Date(Date.parse(`${day}T00:00:00Z`) + Math.random() * 2 * 86_400_000).toISOString(),
  }));

/** Batches per round: every export has the trace runs of all earlier rounds. */
const batchesMax = 10;

/** Waits until a partition run of the export executes, at most six seconds, as other exports may be first. */
const untilRunning = async (url: string, key: string, id: string): Promise<void> => {
  for (const end = Date.now() + 6_000; Date.now() < end; await sleep(20)) {
    const response = await fetch(`${url}/api/v1/bulk-exports/${id}`, { headers: { 'x-api-key': key } });
    const { status } = (await response.json()) as { status: string };
    if (status === 'RUNNING') return;
  }
};

/** Ingests until the server is killed, or enough is stored. */
const ingest = async (url: string, key: string, until: Promise<unknown>): Promise<void> => {
  let isOver = false;
  void until.then(() => (isOver = true));
  for (let batch = 0; batch < batchesMax && !isOver; batch++) {
    await call(url, key, '/runs/batch', { post: newRuns(5) }).catch(() => undefined);
    await sleep(200);
  }
};

it(
  `of all processes leaves every export complete, in ${rounds} rounds`,
  async () => {
    const made: string[] = [];
    let destination: string | undefined;
    for (let round = 0; round < rounds; round++) {
      last = await startSvc(dataDir, testProject, { limits });
      const { url } = last;
      const key = (await readFile(join(dataDir, 'admin-key'), 'utf8')).trim();
      if (round === 0)
        for (let batch = 0; batch < 10; batch++) await call(url, key, '/runs/batch', { post: newRuns(100) });
      destination ??= (
        await call<{ id: string }>(url, key, '/bulk-exports/destinations', {
          destination_type: 'file',
          display_name: 'folder',
          config: { path: 'out' },
        })
      )?.id;
      const sessions = await fetch(`${url}/api/v1/sessions`, { headers: { 'x-api-key': key } });
      const session_id = ((await sessions.json()) as { id: string; name: string }[]).find(
        ({ name }) => name === 'kept',
      )?.id;
      const created = await call<{ id: string }>(url, key, '/bulk-exports', {
        bulk_export_destination_id: destination,
        session_id,
        start_time: `${day}T00:00:00Z`,
        end_time: '2026-11-20T00:00:00Z',
      });
      if (created) made.push(created.id);
      // The first kill happens during a partition run, whatever the speed of the machine.
      const running = created ? untilRunning(url, key, created.id) : sleep(1_000);
      const killing = running
        .then(() => sleep(round === 0 ? 0 : Math.random() * 4_000))
        .then(() => last?.killAll());
      await ingest(url, key, killing);
      await killing;
    }
    last = await startSvc(dataDir, testProject, { limits });
    await using embedded = await openEmbedded({ dataDir });
    await using db = await openDatabase({ connection: embedded.connection });
    expect(made.length).toBeGreaterThan(0);
    for (const id of made)
      await eventually(async () => expect(await statusOf(db, id)).toBe('COMPLETED'), 900_000);
    for (const id of made) await checkCompleted(db, folderView(join(dataDir, 'exports', 'out')), id);
    const [lost] = await sql<{ count: number }>(
      db,
      `select count(*) as count from export_events where type = 'requeued'`,
    );
    if (rounds > 2) expect(lost?.count).toBeGreaterThan(0);
    await last.killAll();
    last = undefined;
  },
  scaled(3_600_000),
);
