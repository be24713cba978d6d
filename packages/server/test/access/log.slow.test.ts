// The output of a process of the server at level trace contains no credential and no secret of a user, also after a crash of its executor.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCli } from '../cli/cli-process.ts';
import { testDatabase } from '../database.ts';
import { canaries, project, sendCanaries, studioKey } from './log-canaries.ts';

it('contains no credential, whatever succeeds or fails', async () => {
  await using database = await testDatabase();
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-log-'));
  try {
    const args = ['start', '--config', project, '--data-dir', dataDir, '--port', '0'];
    await using server = runCli([...args, '--log-level', 'trace', '--log-format', 'json'], {
      cwd: dataDir,
      env: { SVC_DATABASE_URI: database.uri, SVC_STUDIO_KEY: studioKey },
    });
    const [url = ''] = await server.prints(/http:\/\/127\.0\.0\.1:\d+/);
    const ticket = await sendCanaries(url, ['user', 'crash', 'approve', 'unknown']);
    await server.prints(/"status":101/);
    await server.prints(/"status":401/);
    expect(server.output()).not.toContain(ticket);
    expect(server.output()).toContain('run ended');
    expect(server.output()).not.toMatch(canaries);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});
