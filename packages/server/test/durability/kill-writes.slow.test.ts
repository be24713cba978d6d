// kill -9 of every process right after the response to a write, for each kind of write. SVC_KILL_ROUNDS sets the number of kills.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient, createPlatformClient } from '@svc/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scaled } from '../speed.ts';
import { openSink } from '../webhooks/sink.ts';
import { startSvc, type SvcProcess } from './svc-process.ts';
import { writes, type Api, type Write } from './writes.ts';
import { sharedFolder } from '../folders.ts';
import { fixture } from '../fixture.ts';

const project = fileURLToPath(new URL('./svc.json', import.meta.url));
const kinds = Object.keys(writes);
const roundsOfEach = Math.ceil(Number(process.env['SVC_KILL_ROUNDS'] ?? kinds.length) / kinds.length);

const dataDir = sharedFolder();
const sink = fixture(() => openSink());
const acknowledged: Write[] = [];
let svc: SvcProcess;
let api: Api;

const start = async (): Promise<void> => {
  svc = await startSvc(dataDir, project);
  const apiKey = (await readFile(join(dataDir, 'admin-key'), 'utf8')).trim();
  api = {
    client: createClient({ apiUrl: svc.url }),
    platform: createPlatformClient({ apiUrl: svc.url, apiKey }),
    exportFolder: join(dataDir, 'exports'),
  };
};

beforeAll(async () => {
  await start();
});
afterAll(async () => {
  await svc.killAll();
});

describe('kill -9 of every process after the response', () => {
  it.each(Object.entries(writes))(
    `loses nothing of a write, and doubles nothing: %s, ${roundsOfEach} times`,
    async (_, prepare) => {
      expect.hasAssertions();
      for (let round = 0; round < roundsOfEach; round++) {
        const write = await prepare(api, sink);
        await write.send();
        acknowledged.push(write);
        await svc.killAll();
        await start();
        await write.check(api);
      }
    },
    scaled(60_000 * roundsOfEach),
  );

  it(
    'changes no write that was acknowledged before an earlier kill',
    async () => {
      expect.hasAssertions();
      for (const write of acknowledged) await write.check(api);
    },
    scaled(60_000 + 2_000 * kinds.length * roundsOfEach),
  );
});
