// Whether tests that need a browser are run. They drive Debian's Chromium.
//   SVC_TEST_BROWSER unset      run where it is installed, reported as not run elsewhere
//   SVC_TEST_BROWSER=required   run, and fail where it is not installed: for CI
//   SVC_TEST_BROWSER=off        not run
import { existsSync } from 'node:fs';

/** The first one is the same engine without windows: it loads a page in half of the time. */
const browsers = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'] as const;

export const chromium = browsers.find((path) => existsSync(path)) ?? browsers[0];

const install = 'scripts/install-test-programs.sh browser';

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
