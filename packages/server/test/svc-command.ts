// The command of the server: what the test run has compiled from the sources of this checkout, or, with SVC_TEST_BUILT=1, what
// `npm run build` has made: that is what users install.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const { SVC_TEST_BUILT: isBuilt, SVC_TEST_PROGRAMS: compiled } = process.env;

export const svcCommand =
  isBuilt !== '1' && compiled !== undefined
    ? join(compiled, 'svc.js')
    : fileURLToPath(
        new URL(
          isBuilt === '1' ? '../../../build/packages/server/bin/svc.js' : '../bin/svc.js',
          import.meta.url,
        ),
      );

if (!existsSync(svcCommand)) throw new Error(`${svcCommand} does not exist: run npm run build`);
