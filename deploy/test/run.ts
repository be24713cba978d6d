// Runs the tests of deploy/: installs their tools from the lock file, checks the types of the tests, and runs them.
// The tests of the image need the result of `npm run build`.
//
// npm run test:deploy             all tests
// npm run test:deploy -- chart    test files with this name, or any arguments of vitest
import { join } from 'node:path';
import { installTools, run } from '../../scripts/tools-folder.ts';

const folder = import.meta.dirname;

installTools(folder);
run(folder, 'npx', ['tsc', '--noEmit', '-p', '.']);
const tests = ['tsx', 'scripts/suites/tests.ts', '--config', 'deploy/test/vitest.config.ts'];
run(join(folder, '../..'), 'npx', [...tests, ...process.argv.slice(2)]);
