// A drill with real processes: back up under load, restore into a new data folder, and continue there.
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from '@svc/sdk';
import { afterAll, describe, expect, it } from 'vitest';
import { runCli } from '../cli/cli-process.ts';
import { startSvc, type SvcProcess } from '../durability/svc-process.ts';
import { testProject } from '../server.ts';
import { type Acknowledged, check, lostAttempts, message, work } from './acknowledged-work.ts';
import { scaled } from '../speed.ts';
import { sharedFolder } from '../folders.ts';

const scratch = sharedFolder();
let first: SvcProcess | undefined;
let second: SvcProcess | undefined;
afterAll(async () => {
  for (const server of [first, second]) await server?.killAll();
});

const svc = (...args: string[]) => runCli(args, { cwd: scratch }).exit;

describe('a backup under load', () => {
  it(
    'contains everything that was acknowledged before it began, and a server continues with it',
    async () => {
      const dataDir = join(scratch, 'data');
      // A lost lease is a lost attempt too, and a short one is lost on a busy machine.
      first = await startSvc(dataDir, testProject, { lease: '30s' });
      const { url } = first;
      const key = (await readFile(join(dataDir, 'admin-key'), 'utf8')).trim();
      const before = [await work(url, key), await work(url, key), await work(url, key)];
      let isDone = false;
      let rounds = 0;
      /** The longest time of a round, in milliseconds, since it was reset. */
      let longestMs = 0;
      const during: Acknowledged[] = [];
      const load = Promise.all(
        [1, 2].map(async () => {
          for (; !isDone; rounds++) {
            const startMs = performance.now();
            during.push(await work(url, key));
            longestMs = Math.max(longestMs, performance.now() - startMs);
          }
        }),
      );
      await expect.poll(() => rounds).toBeGreaterThan(1);
      const [start, withoutMs] = [rounds, longestMs];
      longestMs = 0;
      const backup = await svc('backup', 'backup', '--data-dir', dataDir);
      expect(backup).toMatchObject({ code: 0, stdout: expect.stringMatching(/tables, [\d,]+ rows/) });
      expect(rounds).toBeGreaterThan(start);
      isDone = true;
      const withMs = longestMs;
      await load;
      expect(await lostAttempts(url, during)).toEqual([]);
      await first.killAll();
      const killedMs = performance.now();

      const restored = join(scratch, 'restored');
      expect(await svc('restore', 'backup', '--data-dir', restored)).toMatchObject({ code: 0, stderr: '' });
      second = await startSvc(restored, testProject);
      const awayMs = performance.now() - killedMs;
      process.stdout.write(
        `rounds of requests before and during the backup: at most ${Math.round(withoutMs)} and ${Math.round(withMs)} ms; ` +
          `from the kill of all processes until the restored server answers: ${Math.round(awayMs)} ms\n`,
      );
      for (const acknowledged of before) await check(second.url, key, acknowledged);
      const client = createClient({ apiUrl: second.url });
      const thread = before[0]!;
      const after = await client.runs.wait(thread.thread_id, 'chat', { input: message('three') });
      expect((after as { messages: unknown[] }).messages).toHaveLength(6);
      await work(second.url, key);

      // As after a kill of the restore.
      await second.killAll();
      await writeFile(join(restored, 'restore-unfinished'), '');
      const started = await svc('start', '--config', testProject, '--data-dir', restored, '--port', '0');
      expect(started).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('has not finished. Repeat it'),
      });
      await rm(join(restored, 'restore-unfinished'));
      second = await startSvc(restored, testProject);

      const refused = await svc('restore', 'backup', '--data-dir', restored);
      expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('is not empty') });
      await check(second.url, key, before[1]!);
    },
    scaled(300_000),
  );

  it(
    'is written and checked without a server, and a damaged one creates no data folder',
    async () => {
      const dataDir = join(scratch, 'data');
      const { code, stderr } = await svc('backup', 'offline', '--data-dir', dataDir);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(await svc('restore', 'offline', '--check')).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('complete and undamaged'),
      });
      await cp(join(scratch, 'offline'), join(scratch, 'damaged'), { recursive: true });
      await rm(join(scratch, 'damaged', 'threads.copy.gz'));
      const damaged = await svc('restore', 'damaged', '--data-dir', 'never');
      expect(damaged).toMatchObject({ code: 1, stderr: expect.stringMatching(/incomplete: .*threads/) });
      expect(await readdir(scratch)).not.toContain('never');
      expect((await svc('backup', 'again', '--data-dir', 'nowhere')).stderr).toContain('holds no database');
    },
    scaled(120_000),
  );
});
