// Runs the acceptance tests: installs the stock clients from their lock files, builds the packages unless there is a build, checks the types of
// the tests, and runs them.
//
// npm run test:acceptance                    all clients
// npm run test:acceptance -- langchain-react  test files with this name, or any arguments of vitest
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = import.meta.dirname;

const run = (cwd: string, command: string, args: string[]): void => {
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
const install = (name: string): void => {
  const cwd = join(folder, name);
  const lock = readFileSync(join(cwd, 'package-lock.json'), 'utf8');
  const installed = join(cwd, 'node_modules', '.installed-lock.json');
  if (read(installed) === lock) return;
  run(cwd, 'npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']);
  writeFileSync(installed, lock);
};

for (const name of ['clients', 'agent-chat-ui', 'next']) install(name);
const root = join(folder, '../..');
// A Next application uses the packages as they are published.
if (!existsSync(join(root, 'build/packages/server/dist/index.js'))) run(root, 'npm', ['run', 'build']);
run(folder, 'npx', ['tsc', '--noEmit', '-p', '.']);
run(folder, 'npx', ['vitest', 'run', ...process.argv.slice(2)]);
