// Loads, pages, interactions, frames and large states of the console in a headless browser; writes bench/console.md. With --only it prints the tables of
// some sections, and writes no file.
// Usage: npm run bench:console [-- --only pages --rounds 3] (SVC_TEST_BUILT=1 measures the server that `npm run build` has made)
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Browser } from 'playwright-core';
import { launch, missingBrowser, newContext, openTab, type StorageState } from './console-browser.ts';
import { clientsOf, createThings } from './console-data.ts';
import { measureInteractions } from './console-interactions.ts';
import { measureLoads, measurePages, type Subject } from './console-pages.ts';
import { measureFrames, measureState } from './console-volumes.ts';
import { startMeasured, type Measured } from './processes.ts';

const sections: Record<string, { title: string; measure: (subject: Subject) => Promise<string> }> = {
  load: { title: 'First load', measure: measureLoads },
  pages: { title: 'Pages', measure: measurePages },
  interactions: { title: 'Interactions', measure: measureInteractions },
  frames: { title: 'Frames', measure: measureFrames },
  state: { title: 'A thread with a large state', measure: measureState },
};

const help = `npm run bench:console -- [--only NAME]... [--rounds N]

Starts a server with a data folder of its own and a headless Chromium, measures the console, and writes bench/console.md.

  --only NAME   measures this section, prints it, and writes no file; can be repeated: ${Object.keys(sections).join(', ')}
  --rounds N    repetitions of each figure; 10 when absent. Interactions have at least 20, and the large state at most 3
  --help        prints this text

SVC_TEST_BUILT=1 measures the server and the console that npm run build has made, otherwise those of the checkout.
`;

interface Options {
  /** The sections. */
  names: string[];
  /** True for all of them. */
  isWhole: boolean;
  rounds: number;
}

const isBuilt = process.env['SVC_TEST_BUILT'] === '1';
const builtCommand = '../build/packages/server/bin/svc.js';

/** Undefined after --help. Throws if nothing can be measured. */
const readOptions = (): Options | undefined => {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true, default: [] },
      rounds: { type: 'string', default: '10' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const unknown = values.only.find((name) => !Object.hasOwn(sections, name));
  if (unknown !== undefined)
    throw new Error(`--only ${unknown} is no section; use one of ${Object.keys(sections).join(', ')}`);
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 1_000)
    throw new Error('--rounds must be an integer between 1 and 1000');
  const missing = missingBrowser();
  if (missing !== undefined) throw new Error(`bench:console needs a browser: ${missing}`);
  if (isBuilt && !existsSync(new URL(builtCommand, import.meta.url)))
    throw new Error('SVC_TEST_BUILT=1 needs a built server: npm run build');
  const isWhole = values.only.length === 0;
  return { names: isWhole ? Object.keys(sections) : values.only, isWhole, rounds };
};

const startServer = (dataDir: string, apiKey: string): Promise<Measured> =>
  startMeasured(dataDir, {
    ...(isBuilt ? { command: builtCommand } : {}),
    flags: ['--executors', '1'],
    env: {
      SVC_LOG_LEVEL: 'error',
      SVC_RATE_LIMIT: 'none',
      SVC_TRACING: 'on',
      SVC_EGRESS_ALLOW: '127.0.0.1',
      SVC_BOOTSTRAP_API_KEY: apiKey,
    },
  });

/** Enters the key once; the sections use the cookies. */
const signIn = async (browser: Browser, url: string, apiKey: string): Promise<StorageState> => {
  await using context = await newContext(browser);
  await using tab = await openTab(context);
  await tab.load(`${url}/traces`, [{ selector: 'input[type=password]' }]);
  await tab.page.getByLabel('API key', { exact: true }).fill(apiKey);
  await tab.page.getByRole('button', { name: 'Use this key' }).click();
  await tab.wait({ selector: '#content tbody tr', heading: 'Traces' });
  // Awaited here, before the context is closed.
  return await context.storageState();
};

type Cleanup = (end: () => Promise<unknown>) => void;

const measure = async (names: string[], rounds: number, atEnd: Cleanup): Promise<string> => {
  const browser = await launch();
  atEnd(() => browser.close());
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-console-'));
  const apiKey = `svc-bench-${randomBytes(24).toString('hex')}`;
  const starting = startServer(join(folder, 'data'), apiKey);
  // A server that is about to start is waited for, because it would otherwise outlive this process.
  atEnd(async () => {
    await starting.then((server) => server.stop()).catch(() => undefined);
    rmSync(folder, { recursive: true, force: true });
  });
  const server = await starting;
  const url = `${server.url}/console`;
  const clients = clientsOf(server.url, apiKey);
  const things = await createThings(clients);
  const signedIn = await signIn(browser, url, apiKey);
  const parts: string[] = [];
  for (const name of names) {
    const section = sections[name];
    if (!section) continue;
    process.stderr.write(`measuring: ${section.title}\n`);
    parts.push(
      `## ${section.title}\n\n${await section.measure({ browser, url, clients, things, signedIn, rounds })}`,
    );
  }
  return [`Measured with Chromium ${browser.version()}, ${rounds} rounds.`, ...parts].join('\n\n');
};

const machine = (): string => {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  const from = isBuilt ? 'built server' : 'server from the sources';
  return `${new Date().toISOString().slice(0, 10)}, commit ${commit}, ${from}, Node ${process.versions.node}, ${cpus().length} cores (${cpus()[0]?.model ?? ''}).`;
};

const file = fileURLToPath(new URL('./console.md', import.meta.url));
const marks = { begin: '<!-- measured -->', end: '<!-- end of measured -->' };

/** Replaces what is between the marks. The text around them is written by hand. */
const writePage = (report: string): void => {
  const page = readFileSync(file, 'utf8');
  const [from, to] = [page.indexOf(marks.begin), page.indexOf(marks.end)];
  if (from < 0 || to < from) throw new Error(`${file} lacks ${marks.begin} and ${marks.end}`);
  writeFileSync(file, `${page.slice(0, from)}${marks.begin}\n\n${report}\n\n${page.slice(to)}`);
};

const ends: (() => Promise<unknown>)[] = [];
let ending: Promise<void> | undefined;
const endAll = (): Promise<void> =>
  (ending ??= (async () => {
    for (const end of ends.toReversed()) await end();
  })());

for (const [signal, status] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.on(signal, () => {
    void endAll().finally(() => process.exit(status));
  });

const failed = (message: string): void => {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
};

const run = async ({ names, isWhole, rounds }: Options): Promise<void> => {
  try {
    const report = `${machine()}\n${await measure(names, rounds, (end) => ends.push(end))}`;
    if (isWhole) writePage(report);
    process.stdout.write(`${report}\n`);
  } catch (error) {
    // After a signal, the sections fail because the browser is closed.
    if (ending === undefined) failed((error as Error).stack ?? String(error));
  } finally {
    await endAll();
  }
};

try {
  const options = readOptions();
  if (options) await run(options);
  else process.stdout.write(help);
} catch (error) {
  failed((error as Error).message);
}
