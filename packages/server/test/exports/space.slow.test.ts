// Disk space that exports to folders may use.
import { execFileSync } from 'node:child_process';
import { mkdir, readdir, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { testDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { checkCompleted, folderView } from './export-audit.ts';
import { startExportNode } from './export-node.ts';
import { firstDay, newExport, newPlace, type Place, runsOf, statusOf } from './export-tables.ts';
import { addRuns } from './stored-runs.ts';
import { scaled } from '../speed.ts';
import { fixture } from '../fixture.ts';
import { testFolder } from '../folders.ts';

const db = fixture(() => testDatabase());
let folder: string;
let place: Place;
beforeEach(async () => {
  folder = testFolder();
  place = await newPlace(db, folder);
});

const mb = 1_024 ** 2;
const settings = { exportSlots: '1', exportRetries: 1_000, exportRetryDelayMs: 100 };
const firstRun = async (id: string) => (await runsOf(db, id))[0]!;
const untilCompleted = (id: string): Promise<void> =>
  eventually(async () => expect(await statusOf(db, id)).toBe('COMPLETED'), 60_000);
/** The error of the first attempt. */
const firstError = (id: string): Promise<string | undefined> =>
  eventually(async () => {
    const { errors } = await firstRun(id);
    expect(errors['retry_0']).toBeDefined();
    return errors['retry_0'];
  }, 60_000);

const filesIn = async (path: string): Promise<{ name: string; bytes: number }[]> => {
  const names = await readdir(path, { recursive: true });
  const all = await Promise.all(names.map(async (name) => ({ name, found: await stat(join(path, name)) })));
  return all.filter(({ found }) => found.isFile()).map(({ name, found }) => ({ name, bytes: found.size }));
};

const muchMore = async (): Promise<number> => {
  const { blocks, bsize } = await statfs(folder);
  return blocks * bsize;
};

describe('free space', () => {
  it('that would be used up fails the attempt with a message, before anything is written', async () => {
    await using _node = await startExportNode(db, {
      settings: { ...settings, exportFreeBytes: await muchMore() },
    });
    await addRuns(db, place, { start: firstDay, count: 10 });
    const id = await newExport(db, place);
    expect(await firstError(id)).toMatch(
      /^The disk for temporary files of the server has \d+ MB free, and \d+ MB must stay free\. Free some space\. \(DiskAlmostFull\)$/,
    );
    expect(await filesIn(folder)).toEqual([]);
  });

  it('that is missing prevents the creation of a destination', async () => {
    await using node = await startExportNode(db, { settings: { exportFreeBytes: await muchMore() } });
    const making = node.destinations.create(place.tenant_id, {
      destination_type: 'file',
      display_name: 'full',
      config: { path: folder },
    });
    await expect(making).rejects.toThrow(/The disk of the folder has .* must stay free/);
  });
});

describe('a quota', () => {
  it('is kept and named in the error, and the export continues when there is room', async () => {
    await using _node = await startExportNode(db, {
      settings: {
        ...settings,
        exportFileRoots: folder,
        fileRootQuotaBytes: 2_097_152,
        exportCompression: 'none',
      },
    });
    const old = join(folder, 'old-export.parquet');
    await writeFile(old, Buffer.alloc(1.5 * mb));
    await addRuns(db, place, { start: firstDay, count: 100, bytes: 10_000 });
    const id = await newExport(db, place);
    expect(await firstError(id)).toMatch(
      /^Exports in the folder use 1 MB of 2 MB, and \d+ MB more are needed\. Delete old exports, or name another folder in SVC_EXPORT_FILE_ROOTS\. \(QuotaExceeded\)$/,
    );
    const bytes = (await filesIn(folder)).reduce((sum, file) => sum + file.bytes, 0);
    expect(bytes).toBeLessThanOrEqual(2 * mb);
    await rm(old);
    await untilCompleted(id);
    await checkCompleted(db, folderView(folder), id);
  });

  it('of zero allows no export to a folder', async () => {
    await using node = await startExportNode(db, {
      settings: { exportFileRoots: folder, fileRootQuotaBytes: 0 },
    });
    const making = node.destinations.create(place.tenant_id, {
      destination_type: 'file',
      display_name: 'none',
      config: { path: folder },
    });
    await expect(making).rejects.toThrow(/Exports in the folder use/);
  });
});

const isRoot = process.getuid?.() === 0 && process.platform === 'linux';
if (!isRoot) console.warn('NOT RUN: exports to a small disk, since only root may mount one');

describe.runIf(isRoot)('an export to a small disk', () => {
  it(
    'always keeps the minimum free, and continues when there is more space',
    async () => {
      const disk = join(folder, 'disk');
      await mkdir(disk);
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=12m', 'tmpfs', disk]);
      let least = Infinity;
      const look = async (): Promise<void> => {
        const { bavail, bsize } = await statfs(disk);
        least = Math.min(least, bavail * bsize);
      };
      const sampling = setInterval(() => void look(), 1);
      try {
        const small = await newPlace(db, disk);
        await using _node = await startExportNode(db, {
          settings: {
            ...settings,
            exportFreeBytes: 10_485_760,
            exportFileBytes: 409_600,
            exportCompression: 'none',
          },
        });
        await addRuns(db, small, { start: firstDay, count: 400, bytes: 10_000 });
        const id = await newExport(db, small);
        const error = await eventually(async () => {
          const { errors } = await firstRun(id);
          expect(Object.keys(errors).length).toBeGreaterThan(2);
          return errors['retry_0'];
        }, 60_000);
        expect(error).toMatch(/^The disk of the folder has 1\d MB free, and 10 MB must stay free/);
        expect(least).toBeGreaterThanOrEqual(10 * mb);
        execFileSync('mount', ['-o', 'remount,size=100m', disk]);
        await untilCompleted(id);
        await checkCompleted(db, folderView(disk), id);
      } finally {
        clearInterval(sampling);
        execFileSync('umount', ['-l', disk]);
      }
    },
    scaled(120_000),
  );
});
