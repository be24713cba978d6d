// The programs of the processes and threads that this process starts.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { processEnvironment } from './environment.ts';
import { codeFile, packageFile } from './package-files.ts';

/** In a checkout: names the folder of programs that a test run has compiled, because its processes load the sources of the server. */
const compiledVariable = 'SVC_TEST_PROGRAMS';

const isCheckout = existsSync(codeFile('config/programs.ts'));

/** The path of a program in bin/. */
export const programFile = (name: 'executor.js' | 'exporter.js' | 'parser.js'): string => {
  const compiled = isCheckout ? processEnvironment()[compiledVariable] : undefined;
  return join(compiled ?? fileURLToPath(packageFile('bin')), name);
};
