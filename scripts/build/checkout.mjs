// Compiles the server of a checkout, so that a start loads it like the published package. From the sources, each process would transform
// and load 1,300 modules, which takes half of the CPU time and memory of a start. Uses nothing but Node while nothing has changed.
//
// A folder below build/checkout has the name of a hash of its sources, so that running processes keep the code with which they started.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const compiled = join(root, 'build', 'checkout');
const sources = [
  'packages/server/src',
  'packages/server/bin',
  'packages/server/python',
  'packages/server/package.json',
  'packages/contract/src',
  'packages/sdk/src',
  'packages/conformance/src',
  'package-lock.json',
  'scripts/build',
];

/** Path, time and size of each file. */
const factsOf = (path) => {
  const stats = statSync(path);
  if (stats.isDirectory()) return readdirSync(path).flatMap((name) => factsOf(`${path}/${name}`));
  return path.endsWith('.test.ts') || path.endsWith('.pyc') ? [] : [`${path} ${stats.mtimeMs} ${stats.size}`];
};

const hashOfSources = () => {
  const facts = sources.flatMap((path) => factsOf(join(root, path)));
  return createHash('sha256').update(facts.join('\n')).digest('hex').slice(0, 16);
};

/** Records that this process uses the folder. False when the folder does not exist. */
const use = (folder) => {
  try {
    writeFileSync(join(folder, 'users', String(process.pid)), '');
    return true;
  } catch (error) {
    return ['EACCES', 'EPERM', 'EROFS'].includes(error.code); // this user may only read the checkout
  }
};

const isAlive = (pid) => {
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM'; // of another user
  }
};

/** A folder that is being compiled has the id of the compiling process in its name. A folder without users is left from an interrupted deletion. */
const isUsed = (name) => {
  const users = join(compiled, name, 'users');
  const [, compiler] = name.split('-');
  return [...(existsSync(users) ? readdirSync(users) : []), compiler].some(isAlive);
};

/** Deletes the folders whose processes have ended. */
const deleteUnused = () => {
  for (const name of readdirSync(compiled)) {
    try {
      if (!isUsed(name)) rmSync(join(compiled, name), { recursive: true, force: true });
    } catch {
      // It belongs to another user, or another process deletes it now: later starts try again.
    }
  }
};

const compile = (folder) => {
  const program = fileURLToPath(new URL('compile-checkout.ts', import.meta.url));
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
  const { status } = spawnSync(process.execPath, ['--import', tsx, program, folder], { stdio: 'ignore' });
  if (status !== 0) throw new Error('the sources cannot be compiled');
};

/**
 * Returns the folder of the compiled server; undefined when it cannot be compiled, because of a mistake in the sources or because this user may
 * not write to the checkout.
 */
export const compileCheckout = () => {
  const folder = join(compiled, hashOfSources());
  if (use(folder)) return folder;
  const unfinished = `${folder}-${process.pid}`;
  try {
    mkdirSync(join(unfinished, 'users'), { recursive: true });
    use(unfinished);
    deleteUnused();
    compile(unfinished);
    renameSync(unfinished, folder);
    return folder;
  } catch {
    rmSync(unfinished, { recursive: true, force: true });
    // Another process may have compiled the same sources meanwhile.
    return existsSync(folder) && use(folder) ? folder : undefined;
  }
};
