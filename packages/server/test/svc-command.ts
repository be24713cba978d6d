// The command of the server: from the sources of this checkout, or, with SVC_TEST_BUILT=1, from what `npm run build` has made. That is
// what users install, and it starts in two thirds of the time.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const isBuilt = process.env['SVC_TEST_BUILT'] === '1';

export const svcCommand = fileURLToPath(
  new URL(isBuilt ? '../../../build/packages/server/bin/svc.js' : '../bin/svc.js', import.meta.url),
);

if (!existsSync(svcCommand)) throw new Error(`${svcCommand} does not exist: run npm run build`);
