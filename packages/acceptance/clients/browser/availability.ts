// Whether tests that need a browser are run. They drive Debian's Chromium.
//   SVC_TEST_BROWSER unset      run where it is installed, reported as not run elsewhere
//   SVC_TEST_BROWSER=required   run, and fail where it is not installed: for CI
//   SVC_TEST_BROWSER=off        not run
import { existsSync } from 'node:fs';

export const chromium = '/usr/bin/chromium';

const install = 'apt-get install -y --no-install-recommends chromium';

/** Why tests that need a browser are not run; undefined when they are. */
export const whyNoBrowser = (): string | undefined => {
  const setting = process.env['SVC_TEST_BROWSER'] ?? '';
  if (!['', 'required', 'off'].includes(setting))
    throw new Error(`SVC_TEST_BROWSER is ${JSON.stringify(setting)}; it may be "required" or "off"`);
  if (setting === 'off') return 'SVC_TEST_BROWSER=off';
  return setting === '' && !existsSync(chromium)
    ? `${chromium} does not exist; on Debian: ${install}`
    : undefined;
};
