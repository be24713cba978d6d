// A folder with packages of its own, which `npm ci` of the repository does not install: those of some tests are large.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Ends this process when the command fails. */
export const run = (cwd: string, command: string, args: string[]): void => {
  const { status } = spawnSync(command, args, { cwd, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
};

const read = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined; // not installed yet
  }
};

/** Installs the packages of a folder, unless they are those of its lock file already. */
export const installTools = (folder: string): void => {
  const lock = readFileSync(join(folder, 'package-lock.json'), 'utf8');
  const installed = join(folder, 'node_modules', '.installed-lock.json');
  if (read(installed) === lock) return;
  run(folder, 'npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']);
  writeFileSync(installed, lock);
};
