// npm run test:everything: runs all suites that the gate leaves out, remembers which have passed at this commit, and continues there when it
// was interrupted. Prints a table. Results are in build/everything.json, outputs in build/everything/.
//
// npm run test:everything                     what has not passed yet at this commit
// npm run test:everything -- faults console   suites whose name begins so
// npm run test:everything -- --again          also what has passed
// npm run test:everything -- --list           what there is, and what has passed
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { measureSlowdown, scaled } from '../../packages/server/test/speed.ts';
import { flakyTests } from './flaky.ts';
import { preparations, requiredParts, type Suite, suites } from './suites.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, 'build/everything');
const stateFile = join(root, 'build/everything.json');
const resultsFile = join(folder, 'results.jsonl');

interface Result {
  commit: string;
  passed: boolean;
  seconds: number;
  /** User and system, of all processes; absent without python3. */
  cpu?: number;
  flaky: string[];
}

type State = Record<string, Result>;

const readState = (): State => {
  try {
    return JSON.parse(readFileSync(stateFile, 'utf8')) as State;
  } catch {
    return {}; // none yet
  }
};

const git = (...args: string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();

const hasPython = spawnSync('python3', ['--version']).status === 0;

/** Runs a suite and keeps what it prints. */
const runSuite = async ({ name, command, env = {} }: Suite, commit: string): Promise<Result> => {
  const log = join(folder, `${name.replaceAll(/[^a-z0-9]+/gi, '-')}.log`);
  const flakyFolder = join(folder, 'flaky');
  rmSync(flakyFolder, { recursive: true, force: true });
  rmSync(resultsFile, { force: true });
  process.env['SVC_FLAKY_FOLDER'] = flakyFolder;
  const measured = hasPython ? ['python3', 'scripts/suites/measured.py', resultsFile, name] : [];
  const [file = '', ...args] = [...measured, ...command];
  const began = performance.now();
  const child = spawn(file, args, {
    cwd: root,
    env: { ...process.env, ...requiredParts, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const written = createWriteStream(log);
  for (const stream of [child.stdout, child.stderr]) stream.pipe(written, { end: false });
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal);
    void once(child, 'exit').then(() => process.exit(130));
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end);
  const [code] = (await once(child, 'close')) as [number | null];
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, end);
  written.end();
  const cpu = hasPython ? (JSON.parse(readFileSync(resultsFile, 'utf8')) as { cpu: number }).cpu : undefined;
  const seconds = Math.round((performance.now() - began) / 1000);
  const result = {
    commit,
    passed: code === 0,
    seconds,
    flaky: flakyTests(),
    ...(cpu === undefined ? {} : { cpu }),
  };
  if (code !== 0)
    process.stdout.write(`${lastLines(readFileSync(log, 'utf8'), 60)}\n   failed; all of it: ${log}\n`);
  return result;
};

const lastLines = (text: string, count: number): string =>
  text.trimEnd().split('\n').slice(-count).join('\n');

const minutes = (seconds: number): string => `${Math.max(1, Math.round(seconds / 60))} min`;

const table = (chosen: readonly Suite[], state: State, commit: string): string =>
  [
    ' minutes   CPU s  result   suite',
    ...chosen.map(({ name }) => {
      const result = state[name]?.commit === commit ? state[name] : undefined;
      const outcome = result ? (result.passed ? 'passed' : 'FAILED') : 'not run';
      const time = result ? (result.seconds / 60).toFixed(1) : '';
      const cpu = result?.cpu === undefined ? '' : result.cpu.toFixed(0);
      const flaky = (result?.flaky ?? []).map((title) => `\n${' '.repeat(18)}flaky: ${title}`).join('');
      return `${time.padStart(8)}${cpu.padStart(8)}  ${outcome.padEnd(8)} ${name}${flaky}`;
    }),
  ].join('\n');

const prepare = (): void => {
  for (const [file = '', ...args] of preparations) {
    process.stdout.write(`== ${file} ${args.join(' ')}\n`);
    const { status } = spawnSync(file, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
    if (status !== 0) throw new Error(`${file} ${args.join(' ')} failed`);
  }
};

const main = async (): Promise<number> => {
  const { values, positionals } = parseArgs({
    options: { again: { type: 'boolean' }, list: { type: 'boolean' } },
    allowPositionals: true,
  });
  const chosen = suites.filter(
    ({ name }) => positionals.length === 0 || positionals.some((start) => name.startsWith(start)),
  );
  if (chosen.length === 0) {
    process.stderr.write(
      `No suite begins with ${positionals.join(' or ')}. Suites: ${suites.map(({ name }) => name).join('; ')}.\n`,
    );
    return 2;
  }
  mkdirSync(folder, { recursive: true });
  const clean = git('status', '--porcelain') === '';
  const commit = clean ? git('rev-parse', 'HEAD') : 'uncommitted';
  const state = readState();
  if (values.list) {
    process.stdout.write(`${table(chosen, state, commit)}\n`);
    return 0;
  }
  // What was seen with changes that are not committed says nothing about the next time.
  if (!clean) for (const result of Object.values(state)) if (result.commit === commit) result.commit = '';
  const open = chosen.filter(
    ({ name }) => values.again || !(state[name]?.commit === commit && state[name].passed),
  );
  measureSlowdown();
  const expected = open.reduce(
    (sum, suite) => sum + (state[suite.name]?.seconds ?? scaled(suite.minutes * 60)),
    0,
  );
  process.stdout.write(
    `${open.length} of ${chosen.length} suites, about ${minutes(expected)}.` +
      `${clean ? '' : ' There are uncommitted changes: the results are not remembered.'}\n`,
  );
  if (open.length > 0) prepare();
  for (const suite of open) {
    process.stdout.write(`== ${new Date().toTimeString().slice(0, 5)} ${suite.name}\n`);
    state[suite.name] = await runSuite(suite, commit);
    writeFileSync(stateFile, `${JSON.stringify(state, undefined, 2)}\n`);
  }
  process.stdout.write(`\nCommit ${commit.slice(0, 12)}\n${table(chosen, state, commit)}\n`);
  return chosen.every(({ name }) => state[name]?.commit === commit && state[name].passed) ? 0 : 1;
};

process.exitCode = await main();
