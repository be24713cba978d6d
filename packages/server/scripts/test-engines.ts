// Runs the tests that depend on the engine with other versions of LangGraph.js. engines.json names the versions; `oldest` is the
// lower end of the peer dependencies. `npm test` covers the newest engine, which package.json pins.
//
// npm run test:engines                                with each engine
// npm run test:engines -- --engine oldest             with one engine
// npm run test:engines -- packages/server/test/runs   other tests, or any arguments of vitest
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';

type Versions = Record<string, string>;

interface Manifest {
  dependencies?: Versions;
  devDependencies?: Versions;
}

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** What the engine computes: checkpoints, streams, interrupts, later attempts, state updates, callbacks, schemas. */
const coreTests = [
  'src/engine',
  'test/assistants/introspection',
  'test/attempts',
  'test/checkpoints',
  'test/engines',
  'test/rollback/delta',
  'test/rollback/run-undo',
  'test/runs/runs',
  'test/runs/cancel',
  'test/runs/thread-run-stream',
  'test/stock-client',
  'test/thread-protocol/commands',
  'test/thread-protocol/feed.test',
].map((name) => `packages/server/${name}`);

const run = promisify(execFile);

const runVisibly = async (cwd: string, file: string, args: string[]): Promise<number> => {
  const child = spawn(file, args, { cwd, stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
};

const changeJson = async <T>(file: string, change: (value: T) => void): Promise<void> => {
  const value = JSON.parse(await readFile(file, 'utf8')) as T;
  change(value);
  await writeFile(file, JSON.stringify(value));
};

/** Copies the installed packages except those of the engine. */
const copyModules = async (folder: string): Promise<void> => {
  const modules = join(root, 'node_modules');
  // npm replaces files and does not write into them, so links are enough: 0.6 s instead of 7 s. They need one file system.
  try {
    await run('cp', ['-al', modules, folder]);
  } catch {
    await rm(folder, { recursive: true, force: true });
    await cp(modules, folder, { recursive: true, verbatimSymlinks: true });
  }
  const caches = ['.cache', '.vite', '.vite-temp', '.experimental-vitest-cache'];
  for (const name of ['@langchain', '.package-lock.json', ...caches])
    await rm(join(folder, name), { recursive: true, force: true });
};

/** Installs the committed files with this engine. The other packages are copied, so that npm only fetches those of the engine. */
const install = async (versions: Versions, folder: string): Promise<void> => {
  const archive = join(folder, 'checkout.tar');
  await run('git', ['archive', '--output', archive, 'HEAD'], { cwd: root });
  await run('tar', ['xf', archive, '-C', folder]);
  await copyModules(join(folder, 'node_modules'));
  const { stdout } = await run('git', ['ls-files', '*/package.json'], { cwd: root });
  for (const name of stdout.trim().split('\n'))
    await changeJson<Manifest>(join(folder, name), ({ dependencies = {}, devDependencies = {} }) => {
      for (const pins of [dependencies, devDependencies])
        for (const pinned of Object.keys(pins)) pins[pinned] = versions[pinned] ?? pins[pinned]!;
    });
  // One copy of the engine for all packages, those included that ask for a newer one.
  await changeJson<{ overrides?: Versions }>(join(folder, 'package.json'), (manifest) => {
    manifest.overrides = versions;
  });
  await rm(join(folder, 'package-lock.json'));
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts'], {
    cwd: folder,
  });
};

interface Installed extends AsyncDisposable {
  folder: string;
}

const installed = async (versions: Versions): Promise<Installed> => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-engine-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    await install(versions, folder);
    return { folder, [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw error;
  }
};

const main = async (): Promise<number> => {
  const file = new URL('engines.json', import.meta.url);
  const engines = JSON.parse(await readFile(file, 'utf8')) as Record<string, Versions>;
  const { values, positionals } = parseArgs({
    options: { engine: { type: 'string', multiple: true, default: Object.keys(engines) } },
    allowPositionals: true,
  });
  const chosen = values.engine.map((name) => {
    const versions = engines[name];
    if (versions === undefined)
      throw new Error(`No engine "${name}". Available engines: ${Object.keys(engines).join(', ')}.`);
    return { name, versions };
  });
  const tests = positionals.length > 0 ? positionals : coreTests;
  let worst = 0;
  let next = chosen[0] && installed(chosen[0].versions);
  for (const [index, { name, versions }] of chosen.entries()) {
    await using engine = await next!;
    process.stdout.write(`\n== engine ${name} ${JSON.stringify(versions)}\n`);
    const following = chosen[index + 1];
    const testing = runVisibly(engine.folder, 'npx', [
      'tsx',
      'scripts/suites/tests.ts',
      '--project',
      'fast',
      '--project',
      'slow',
      ...tests,
    ]);
    // Meanwhile the next engine is installed.
    next = following && installed(following.versions);
    next?.catch(() => undefined); // the next round throws it
    worst = Math.max(worst, await testing);
  }
  return worst;
};

process.exitCode = await main();
