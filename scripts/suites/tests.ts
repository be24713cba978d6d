// npm test: runs vitest, and what failed once more, each test alone in a process of its own. A test that passes then is flaky: it is printed,
// and the errors of the first run and the output of the second one are kept in build/flaky. Up to three flaky tests do not fail a run.
//
// npm test -- packages/server/test/runs    some files, or any arguments of vitest
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FailedTest, TestOutcome } from '../../packages/server/test/test-outcome.ts';
import { flakyFolder, flakyMax, recordFlaky } from './flaky.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');

interface Finished {
  code: number;
  /** Undefined when vitest ended before it could report, for example because no file matches. */
  outcome: TestOutcome | undefined;
}

const runVitest = async (args: string[], log?: string): Promise<Finished> => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-outcome-'));
  const file = join(folder, 'outcome.json');
  try {
    const child = spawn(process.execPath, [vitest, 'run', ...args], {
      cwd: root,
      env: { ...process.env, SVC_TEST_OUTCOME: file },
      stdio: log === undefined ? 'inherit' : ['ignore', 'pipe', 'pipe'],
    });
    if (log !== undefined)
      for (const stream of [child.stdout, child.stderr]) stream?.pipe(createWriteStream(log, { flags: 'a' }));
    const forward = (signal: NodeJS.Signals) => child.kill(signal);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, forward);
    const [code] = (await once(child, 'exit')) as [number | null];
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, forward);
    return { code: code ?? 1, outcome: outcomeIn(file) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const outcomeIn = (file: string): TestOutcome | undefined => {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as TestOutcome;
  } catch {
    return undefined; // not written
  }
};

const configOf = (args: string[]): string[] => {
  const at = args.findIndex((arg) => arg === '--config' || arg.startsWith('--config='));
  if (at === -1) return [];
  return args[at] === '--config' ? args.slice(at, at + 2) : [args[at] ?? ''];
};

const titleOf = ({ file, name }: FailedTest): string =>
  name === undefined ? relative(root, file) : `${relative(root, file)} > ${name}`;

/** Whether the test passes alone. Keeps the output of both runs. */
const passesAlone = async (test: FailedTest, config: string[], index: number): Promise<boolean> => {
  const kept = join(flakyFolder(), `${Date.now()}-${index}`);
  await writeFile(`${kept}.first.txt`, `${titleOf(test)}\n\n${test.errors}\n`);
  const pattern = test.name?.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const { code, outcome } = await runVitest(
    [
      ...config,
      ...(test.project ? ['--project', test.project] : []),
      test.file,
      ...(pattern === undefined ? [] : ['-t', `^${pattern}$`]),
    ],
    `${kept}.alone.txt`,
  );
  return code === 0 && (outcome?.passed ?? 0) > 0;
};

const main = async (): Promise<number> => {
  const args = process.argv.slice(2);
  // The gate and test:everything collect the flaky tests of many runs in a folder of theirs.
  if (process.env['SVC_FLAKY_FOLDER'] === undefined) rmSync(flakyFolder(), { recursive: true, force: true });
  const { code, outcome } = await runVitest(args);
  if (!outcome) return code === 0 ? 1 : code;
  const { passed, skipped, failed, unhandled } = outcome;
  if (failed.length > flakyMax)
    process.stdout.write(`\n${failed.length} tests failed; at most ${flakyMax} are tried again alone.\n`);
  const again = failed.length > flakyMax || unhandled > 0 ? [] : failed;
  if (again.length > 0) mkdirSync(flakyFolder(), { recursive: true });
  let flaky = 0;
  for (const [index, test] of again.entries()) {
    process.stdout.write(`\nalone: ${titleOf(test)}\n`);
    if (await passesAlone(test, configOf(args), index)) {
      flaky += 1;
      recordFlaky(titleOf(test));
      process.stdout.write(`flaky: ${titleOf(test)} (outputs in ${relative(root, flakyFolder())})\n`);
    } else process.stdout.write(`failed, also alone: ${titleOf(test)}\n`);
  }
  const failures = failed.length - flaky;
  process.stdout.write(`\ntests: ${passed + flaky} passed, ${failures} failed, ${skipped} skipped\n`);
  if (unhandled > 0) process.stdout.write(`${unhandled} errors belong to no test, see above\n`);
  return failures > 0 || unhandled > 0 || (code !== 0 && flaky === 0) ? 1 : 0;
};

process.exitCode = await main();
