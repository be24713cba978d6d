// A drill with real processes: back up to a bucket under load, restore into a new data folder, and continue there.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from '@svc/sdk';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCli, type CliProcess } from '../cli/cli-process.ts';
import { startSvc, type SvcProcess } from '../durability/svc-process.ts';
import { openFaultServer } from '../s3/fault-server.ts';
import { describeS3, openGateway } from '../s3/gateway.ts';
import { testProject } from '../server.ts';
import { check, message, work } from './acknowledged-work.ts';
import { scaled } from '../speed.ts';
import { sharedFolder } from '../folders.ts';
import { fixture } from '../fixture.ts';

describeS3('a backup to a bucket under load', () => {
  const gateway = fixture(() => openGateway());
  const faults = fixture(() => openFaultServer(gateway));
  let bucket: string;
  const scratch = sharedFolder();
  let dataDir: string;
  const servers: SvcProcess[] = [];
  beforeAll(async () => {
    bucket = await gateway.createBucket();
    dataDir = join(scratch, 'data');
  });
  afterAll(async () => {
    for (const server of servers) await server.killAll();
  });

  const start = async (folder: string): Promise<SvcProcess> => {
    const server = await startSvc(folder, testProject);
    servers.push(server);
    return server;
  };
  const run = (args: string[], env: Record<string, string> = {}): CliProcess =>
    runCli(args, {
      cwd: scratch,
      env: {
        AWS_ACCESS_KEY_ID: gateway.keys.accessKeyId,
        AWS_SECRET_ACCESS_KEY: gateway.keys.secretAccessKey,
        AWS_REGION: gateway.region,
        AWS_ENDPOINT_URL_S3: faults.endpoint,
        ...env,
      },
    });
  const svc = (...args: string[]) => run(args).exit;

  it(
    'contains everything that was acknowledged before it began, and a server continues with it',
    async () => {
      const url = `s3://${bucket}/backups/monday`;
      const first = await start(dataDir);
      const key = (await readFile(join(dataDir, 'admin-key'), 'utf8')).trim();
      const before = [await work(first.url, key), await work(first.url, key)];
      const load = { isDone: false, rounds: 0 };
      const loading = Promise.all(
        [1, 2].map(async () => {
          for (; !load.isDone; load.rounds++) await work(first.url, key);
        }),
      );
      await expect.poll(() => load.rounds).toBeGreaterThan(1);
      const rounds = load.rounds;
      const backup = await svc('backup', url, '--data-dir', dataDir);
      expect(backup).toMatchObject({ code: 0, stdout: expect.stringMatching(/^s3:.*tables, [\d,]+ rows/) });
      expect(load.rounds).toBeGreaterThan(rounds);
      load.isDone = true;
      await loading;

      const again = await svc('backup', url, '--data-dir', dataDir);
      expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('is not empty') });
      expect(await svc('restore', url, '--check')).toMatchObject({
        code: 0,
        stdout: expect.stringContaining(`${url} is complete and undamaged`),
      });
      await first.killAll();

      const restored = join(scratch, 'restored');
      expect(await svc('restore', `${url}/`, '--data-dir', restored)).toMatchObject({ code: 0 });
      const second = await start(restored);
      for (const acknowledged of before) await check(second.url, key, acknowledged);
      const client = createClient({ apiUrl: second.url });
      const after = await client.runs.wait(before[0]!.thread_id, 'chat', { input: message('three') });
      expect((after as { messages: unknown[] }).messages).toHaveLength(6);
      await second.killAll();
    },
    scaled(300_000),
  );

  it(
    'that SIGTERM stops removes its objects, and exits with 143',
    async () => {
      const held = faults.on({ operation: 'PutObject', nth: 10 }).hold();
      await using backup = run(['backup', `s3://${bucket}/stopped`, '--data-dir', dataDir]);
      await held.untilHit();
      process.kill(backup.pid, 'SIGTERM');
      expect(await backup.exit).toMatchObject({
        code: 143,
        stderr: expect.stringContaining('stopped by SIGTERM'),
      });
      held.release();
      expect((await gateway.objects(bucket)).filter(({ key }) => key.startsWith('stopped'))).toEqual([]);
    },
    scaled(120_000),
  );

  it(
    'fails with a reason and an exit code, and creates no data folder',
    async () => {
      const url = `s3://${bucket}/none`;
      expect(await svc('restore', url, '--data-dir', 'never')).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/There is no backup: s3:.*because: The object does not exist/s),
      });
      expect(await readdir(scratch)).not.toContain('never');
      const wrong = { AWS_SECRET_ACCESS_KEY: 'wrong-secret' };
      expect(await run(['backup', url, '--data-dir', dataDir], wrong).exit).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/cannot be written\n {2}because: .*Check AWS_SECRET_ACCESS_KEY/),
      });
      expect(
        await run(['backup', url, '--data-dir', dataDir], { AWS_ENDPOINT_URL_S3: 'minio' }).exit,
      ).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('AWS_ENDPOINT_URL_S3: is no URL of an S3 service'),
      });
      expect(await svc('backup', 's3://', '--data-dir', dataDir)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('is no URL of a prefix in a bucket'),
      });
    },
    scaled(120_000),
  );
});
