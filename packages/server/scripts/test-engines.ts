// Runs the tests of the engine's work with other versions of LangGraph.js: engines.json names them. `newest` is the pinned version of this
// checkout; `oldest` is what the peer dependencies promise.
//
// npm run test:engines                        the core tests with every engine
// npm run test:engines -- --engine oldest     with one engine
// npm run test:engines -- packages/server/test/runs   other tests, or any arguments of vitest
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';

type Versions = Record<string, string>;

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Everything that the engine itself computes: checkpoints, streams, interrupts, lost attempts, state updates. */
const coreTests = ['attempts', 'checkpoints', 'rollback', 'runs', 'stock-client', 'threads', 'webhooks'].map(
  (name) => `packages/server/test/${name}`,
);

const command = async (cwd: string, file: string, args: string[]): Promise<number> => {
  const child = spawn(file, args, { cwd, stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
};

/** The committed files, with the pins of this engine in place of their own. */
const install = async (versions: Versions, folder: string): Promise<void> => {
  const archive = join(folder, 'checkout.tar');
  await promisify(execFile)('git', ['archive', '--output', archive, 'HEAD'], { cwd: root });
  await promisify(execFile)('tar', ['xf', archive, '-C', folder]);
  await rm(archive);
  const { stdout } = await promisify(execFile)('git', ['ls-files', '*/package.json'], { cwd: root });
  for (const name of stdout.trim().split('\n')) {
    const file = join(folder, name);
    const manifest = JSON.parse(await readFile(file, 'utf8')) as Record<string, Versions | undefined>;
    for (const kind of ['dependencies', 'devDependencies'])
      for (const [dependency, version] of Object.entries(versions))
        if (manifest[kind]?.[dependency] !== undefined) manifest[kind][dependency] = version;
    await writeFile(file, JSON.stringify(manifest));
  }
  const code = await command(folder, 'npm', ['install', '--no-audit', '--no-fund', '--prefer-offline']);
  if (code !== 0) throw new Error(`npm install failed with ${JSON.stringify(versions)}`);
};

const testWith = async (name: string, versions: Versions, args: string[]): Promise<number> => {
  process.stdout.write(`\n== engine ${name} ${JSON.stringify(versions)}\n`);
  const vitest = ['vitest', 'run', '--project', 'fast', ...args];
  if (Object.keys(versions).length === 0) return command(root, 'npx', vitest);
  const folder = await mkdtemp(join(tmpdir(), 'svc-engine-'));
  try {
    await install(versions, folder);
    return await command(folder, 'npx', vitest);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

const main = async (): Promise<number> => {
  const engines = JSON.parse(await readFile(new URL('engines.json', import.meta.url), 'utf8')) as Record<
    string,
    Versions
  >;
  const { values, positionals } = parseArgs({
    options: { engine: { type: 'string', multiple: true, default: Object.keys(engines) } },
    allowPositionals: true,
  });
  let worst = 0;
  for (const name of values.engine) {
    const versions = engines[name];
    if (versions === undefined)
      throw new Error(`No engine ${name}: one of ${Object.keys(engines).join(', ')}`);
    worst = Math.max(worst, await testWith(name, versions, positionals.length > 0 ? positionals : coreTests));
  }
  return worst;
};

process.exitCode = await main();
