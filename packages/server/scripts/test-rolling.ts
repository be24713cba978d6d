// Replaces servers of the previous release by servers of this one under load, and back: test/upgrade describes how.
//
// npm run test:rolling
// SVC_UPGRADE_FROM=<git ref>   another release than `from` in upgrade-exceptions.json
// SVC_TEST_BUILT=1             the packages of both releases as `npm run build` makes them: build this one before
import { readUpgradeExceptions, root, runCommand, withPreviousRelease } from './previous-release.ts';

process.exitCode = await withPreviousRelease(await readUpgradeExceptions(), (folder) =>
  runCommand(root, 'npx', ['vitest', 'run', '--project', 'upgrade', ...process.argv.slice(2)], {
    ...process.env,
    SVC_PREVIOUS_RELEASE: folder,
  }),
);
