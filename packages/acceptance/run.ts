// Runs the acceptance tests: installs the stock clients from their lock files, builds the packages unless there is a build, checks the types of
// the tests, and runs them.
//
// npm run test:acceptance                    all clients
// npm run test:acceptance -- langchain-react  test files with this name, or any arguments of vitest
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../../scripts/tools-folder.ts';
import './install.ts';

const folder = import.meta.dirname;

const root = join(folder, '../..');
// A Next application uses the packages as they are published.
if (!existsSync(join(root, 'build/packages/server/dist/index.js'))) run(root, 'npm', ['run', 'build']);
for (const project of ['.', 'agents']) run(folder, 'npx', ['tsc', '--noEmit', '-p', project]);
const tests = ['tsx', 'scripts/suites/tests.ts', '--config', 'packages/acceptance/vitest.config.ts'];
run(root, 'npx', [...tests, ...process.argv.slice(2)]);
