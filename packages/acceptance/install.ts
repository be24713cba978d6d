// Installs the stock clients from their lock files.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const read = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined; // not installed yet
  }
};

/** Installs the packages of a folder, unless they are those of its lock file already. */
const install = (name: string): void => {
  const cwd = join(import.meta.dirname, name);
  const lock = readFileSync(join(cwd, 'package-lock.json'), 'utf8');
  const installed = join(cwd, 'node_modules', '.installed-lock.json');
  if (read(installed) === lock) return;
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
  const { status } = spawnSync('npm', args, { cwd, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  writeFileSync(installed, lock);
};

for (const name of ['clients', 'agent-chat-ui', 'next']) install(name);
