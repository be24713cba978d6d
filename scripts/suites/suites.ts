// What `npm run test:everything` runs beside the gate: everything that takes too long to be run for each change.

export interface Suite {
  name: string;
  command: string[];
  env?: Record<string, string>;
  /** How long it took on two idle cores when this list was written; the first estimate. */
  minutes: number;
}

const onPostgres15 = 'scripts/suites/with-postgres-15.sh';
const vitest = ['npx', 'tsx', 'scripts/suites/tests.ts'];
const npm = (script: string, ...args: string[]): string[] => [
  'npm',
  'run',
  script,
  ...(args.length > 0 ? ['--', ...args] : []),
];

/** Programs and packages that the suites need. Repeated each time: what is installed costs nothing. */
export const preparations: string[][] = [
  ['scripts/install-test-programs.sh', 'all'],
  ['npx', 'tsx', 'packages/acceptance/install.ts'],
  npm('build'),
  npm('build:wheel'),
];

const slowPartsMax = 4;

/** In parts, so that a part which was interrupted costs less, and three failures of each part are tried again alone. */
const slowParts: Suite[] = Array.from({ length: slowPartsMax }, (_, at) => ({
  name: `slow tests on PostgreSQL 15, with 25 rounds of kill -9, part ${at + 1}`,
  command: [onPostgres15, ...vitest, '--project', 'slow', '--shard', `${at + 1}/${slowPartsMax}`],
  env: { SVC_KILL_ROUNDS: '25' },
  minutes: 6,
}));

export const suites: Suite[] = [
  {
    name: 'conformance from outside',
    command: ['bash', 'scripts/suites/conformance.sh'],
    minutes: 1,
  },
  {
    name: 'fast tests on PostgreSQL 15, with S3, pandas and the Python clients',
    command: [onPostgres15, ...vitest, '--project', 'fast'],
    minutes: 8,
  },
  ...slowParts,
  {
    name: 'faults',
    command: [...vitest, '--project', 'faults'],
    env: { SVC_FAULT_ROUNDS: '2' },
    minutes: 10,
  },
  { name: 'console', command: npm('test:console'), minutes: 4 },
  { name: 'stock clients', command: npm('test:acceptance'), minutes: 3 },
  { name: 'compatibility', command: [...vitest, '--project', 'compatibility'], minutes: 2 },
  { name: 'deploy', command: npm('test:deploy'), minutes: 6 },
  { name: 'older engines', command: [onPostgres15, ...npm('test:engines')], minutes: 4 },
  {
    name: 'fuzz',
    command: [...vitest, '--project', 'slow', 'packages/server/test/fuzz'],
    env: { SVC_FUZZ_REQUESTS: '4000', SVC_FUZZ_EXAMPLES: '30' },
    minutes: 6,
  },
  {
    name: 'kills of exporters',
    command: [
      ...vitest,
      '--project',
      'slow',
      '--no-file-parallelism',
      'packages/server/test/exports/kill-servers',
      'packages/server/test/exports/kill-steps',
    ],
    env: { SVC_EXPORT_KILL_ROUNDS: '20' },
    minutes: 5,
  },
  {
    name: 'packages with Node 22, Node 24, pnpm and yarn',
    command: npm('test:install', '--node', '22', '--node', '24', '--manager', 'pnpm', '--manager', 'yarn'),
    minutes: 8,
  },
  { name: 'the wheel in an environment without Node', command: npm('test:wheel'), minutes: 2 },
];

/** The suites fail where a part is missing, instead of leaving tests out. */
export const requiredParts = {
  SVC_TEST_S3: 'required',
  SVC_TEST_BROWSER: 'required',
  SVC_TEST_PYTHON_CLIENTS: 'required',
  SVC_TEST_PYTHON_STOCK: 'required',
  SVC_TEST_SCHEMATHESIS: 'required',
  SVC_TEST_DEPLOY_TOOLS: 'required',
  SVC_TEST_BUILT: '1',
};
