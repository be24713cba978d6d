import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { openEmbedded } from '../../src/storage/embedded/embedded.ts';
import { isRunning } from '../../src/config/process-identity.ts';
import { scaled } from '../speed.ts';

const script = fileURLToPath(new URL('./held-setup.ts', import.meta.url));

it.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
  'a test run that ends by %s leaves no PostgreSQL and no files behind',
  async (signal) => {
    const { SVC_TEST_DATABASE_URI: _, ...env } = process.env;
    const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), script], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env,
    });
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
    const { scratch } = JSON.parse(line) as { scratch: string };
    const main = Number(
      (await readFile(join(scratch, 'main/postgres/postmaster.pid'), 'utf8')).split('\n')[0],
    );
    // A server that a test has left running.
    await mkdir(join(scratch, 'a-test'));
    const { pid: left } = await openEmbedded({ dataDir: join(scratch, 'a-test') });
    expect([main, left].map(isRunning)).toEqual([true, true]);
    child.kill(signal);
    const deadline = performance.now() + scaled(20_000);
    while ((existsSync(scratch) || isRunning(main) || isRunning(left)) && performance.now() < deadline)
      await sleep(20);
    expect([existsSync(scratch), isRunning(main), isRunning(left)]).toEqual([false, false, false]);
  },
);
