// The release before this one, installed by scripts/test-rolling.ts.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type Release, thisRelease } from '../faults/node-process.ts';

/**
 * The previous release, from its built packages if there are any. Its project is a copy of this release's, which loads the engine of the
 * previous release.
 */
export const openPreviousRelease = async (): Promise<Release> => {
  const folder = process.env['SVC_PREVIOUS_RELEASE'];
  if (!folder) throw new Error('SVC_PREVIOUS_RELEASE is not set: use npm run test:rolling');
  const server = join(folder, 'packages/server');
  const project = join(server, 'test/rolling-project');
  await cp(dirname(thisRelease.project), project, { recursive: true });
  const built = join(folder, 'build/packages/server/bin/svc.js');
  return {
    command: existsSync(built) ? built : join(server, 'bin/svc.js'),
    project: join(project, 'svc.json'),
  };
};

/** Executes `svc migrate` of a release. Returns what it has printed. */
export const migrateWith = async ({ command }: Release, databaseUri: string): Promise<string> => {
  const { stdout } = await promisify(execFile)(process.execPath, [command, 'migrate'], {
    cwd: tmpdir(),
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], SVC_DATABASE_URI: databaseUri },
  });
  return stdout;
};
