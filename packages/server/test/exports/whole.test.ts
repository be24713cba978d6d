import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testDatabase } from '../database.ts';
import { checkCompleted, folderView } from './export-audit.ts';
import { eventually } from '../eventually.ts';
import { startExportNode } from './export-node.ts';
import { eventsOf, firstDay, newExport, newPlace, runsOf, statusOf } from './export-tables.ts';
import { addRuns } from './stored-runs.ts';
import { sharedFolder } from '../folders.ts';
import { fixture } from '../fixture.ts';

const db = fixture(() => testDatabase());
const folder = sharedFolder();
const node = fixture(() => startExportNode(db));

describe('an export to a folder', () => {
  it('has every row once, in files that match its manifest', async () => {
    const place = await newPlace(db, folder);
    await addRuns(db, place, { start: firstDay, count: 500 });
    await addRuns(db, place, { start: '2026-03-03T00:00:00Z', count: 100 });
    const id = await newExport(db, place, { days: 3 });
    await eventually(async () => expect(await statusOf(db, id)).toBe('COMPLETED'));
    const manifest = await checkCompleted(db, folderView(folder), id);
    expect(manifest.rows).toBe(600);
    expect(manifest.files.length).toBeGreaterThan(3);
    const runs = await runsOf(db, id);
    expect(runs.map(({ status, rows_written, errors }) => ({ status, rows_written, errors }))).toEqual([
      { status: 'COMPLETED', rows_written: 500, errors: {} },
      { status: 'COMPLETED', rows_written: 0, errors: {} },
      { status: 'COMPLETED', rows_written: 100, errors: {} },
    ]);
    const events = await eventsOf(db, id);
    expect(events.slice(0, 2)).toEqual(['created', 'started']);
    expect(events.at(-1)).toBe('completed');
    expect(events.filter((type) => type === 'file_written')).toHaveLength(manifest.files.length);
    expect(node.worker.tally.rows).toBe(600);
    expect(await readdir(join(node.dataDir, 'tmp', 'exports'), { recursive: true })).toHaveLength(1);
  });
});
