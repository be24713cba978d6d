// Runs the tests of the previous release on the schema of this release: during an upgrade, servers of both use one database.
//
// The tests copy their databases from template1 of the server at SVC_TEST_DATABASE_URI. Here that is a PostgreSQL that this script
// starts. Its template1 has the newest schema, so migrate() of the previous release has nothing to do.
//
// npm run test:upgrade                             all tests of the previous release
// npm run test:upgrade -- packages/server/test/runs   those below a path, or with any other arguments of vitest
// SVC_UPGRADE_FROM=<git ref>                       another release than `from` in upgrade-exceptions.json
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type pg from 'pg';
import { setup } from '../test/global-setup.ts';
import { openDatabase } from '../src/storage/postgres/database.ts';
import { migrate } from '../src/storage/schema/migrate.ts';
import {
  readUpgradeExceptions,
  runCommand,
  type UpgradeExceptions,
  withPreviousRelease,
} from './previous-release.ts';

/** The part of vitest's JSON report that is read here. */
interface Report {
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: { fullName: string; status: string }[];
  }[];
}

/** Starts a PostgreSQL whose template1 has the schema of this release. */
const startDatabase = async (): Promise<{ uri: string } & AsyncDisposable> => {
  delete process.env['SVC_TEST_DATABASE_URI'];
  const provided: Record<string, unknown> = {};
  const close = await setup({ provide: (key, value) => void (provided[key] = value) });
  const connection = provided['connection'] as pg.PoolConfig;
  {
    await using database = await openDatabase({ connection: { ...connection, database: 'template1' } });
    await migrate(database);
  }
  const { user = 'postgres', host = 'localhost', port = 5432 } = connection;
  const password =
    typeof connection.password === 'string' ? `:${encodeURIComponent(connection.password)}` : '';
  const uri = host.startsWith('/')
    ? `postgresql://${user}${password}@localhost/postgres?host=${encodeURIComponent(host)}&port=${port}`
    : `postgresql://${user}${password}@${host}:${port}/postgres`;
  return { uri, [Symbol.asyncDispose]: close };
};

/** Prints failures that are not exceptions, and exceptions that passed. Returns whether there are any. */
const reportResults = (
  { testResults }: Report,
  folder: string,
  { exceptions }: UpgradeExceptions,
): boolean => {
  let hasFindings = false;
  const addFinding = (text: string): void => {
    hasFindings = true;
    process.stderr.write(`${text}\n`);
  };
  if (testResults.length === 0) addFinding('No test ran');
  for (const { name, status, message, assertionResults } of testResults) {
    const file = relative(folder, name);
    const own = exceptions.filter((exception) => exception.file === file);
    const isException = (title: string): boolean => own.some((exception) => exception.title === title);
    const failed = assertionResults.filter((test) => test.status === 'failed');
    for (const { fullName } of failed)
      if (!isException(fullName)) addFinding(`Failed on the new schema: ${file}: ${fullName}`);
    if (status === 'failed' && failed.length === 0)
      addFinding(`Failed on the new schema: ${file}: ${message}`);
    for (const { title } of own)
      if (assertionResults.some((test) => test.fullName === title && test.status === 'passed'))
        addFinding(`Passes on the new schema, remove its exception: ${file}: ${title}`);
  }
  return hasFindings;
};

const main = async (): Promise<number> => {
  const exceptions = await readUpgradeExceptions();
  return withPreviousRelease(exceptions, async (folder) => {
    await using database = await startDatabase();
    const report = join(folder, 'report.json');
    await runCommand(
      folder,
      'npx',
      [
        'vitest',
        'run',
        '--reporter=default',
        '--reporter=json',
        `--outputFile.json=${report}`,
        ...process.argv.slice(2),
      ],
      { ...process.env, SVC_TEST_DATABASE_URI: database.uri },
    );
    return reportResults(JSON.parse(await readFile(report, 'utf8')) as Report, folder, exceptions) ? 1 : 0;
  });
};

process.exitCode = await main();
