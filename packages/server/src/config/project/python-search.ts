// Searches the Python interpreter of a project. The first place that names one decides; it is not checked whether it works.
import { execFile } from 'node:child_process';
import { lstatSync, statSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** A path that may be an interpreter, or may have been one. */
export interface Candidate {
  path: string;
  /** What named it. */
  origin: string;
  /** Found in the PATH. */
  isShared?: boolean;
}

type Environment = Readonly<Record<string, string>>;

const run = promisify(execFile);
const isWindows = process.platform === 'win32';
const programMs = 20_000;

/** `named`: `python` of the config file. Undefined when there is no Python at all. */
export async function findCandidate(
  named: string | undefined,
  dir: string,
  env: Environment,
): Promise<Candidate | undefined> {
  if (named !== undefined) {
    const origin = '"python" of the config file';
    if (/[\\/]/.test(named)) return { path: isFolder(named) ? interpreterIn(named) : named, origin };
    const path = findProgram(named, env);
    return { path: path ?? named, origin };
  }
  const active = env['VIRTUAL_ENV'];
  if (active !== undefined && active !== '') return { path: interpreterIn(active), origin: 'VIRTUAL_ENV' };
  const venv = folderWith('.venv', dir);
  if (venv !== undefined) return { path: interpreterIn(join(venv, '.venv')), origin: '.venv' };
  const managed = (await findByUv(dir, env)) ?? (await findByPoetry(dir, env));
  if (managed !== undefined) return managed;
  for (const name of isWindows ? ['python'] : ['python3', 'python']) {
    const path = findProgram(name, env);
    if (path !== undefined) return { path, origin: `${name} in the PATH`, isShared: true };
  }
  return undefined;
}

const findByUv = async (dir: string, env: Environment): Promise<Candidate | undefined> => {
  if (folderWith('uv.lock', dir) === undefined) return undefined;
  const path = await outputOf('uv', ['python', 'find'], dir, env);
  return path === undefined ? undefined : { path, origin: 'uv python find' };
};

const findByPoetry = async (dir: string, env: Environment): Promise<Candidate | undefined> => {
  const folder = folderWith('poetry.lock', dir);
  if (folder === undefined) return undefined;
  const path = await outputOf('poetry', ['env', 'info', '-p'], folder, env);
  return path === undefined ? undefined : { path: interpreterIn(path), origin: 'poetry env info' };
};

/** The last line that the program prints; undefined when it is missing or fails: the next place is searched then. */
async function outputOf(
  program: string,
  args: string[],
  cwd: string,
  env: Environment,
): Promise<string | undefined> {
  const path = findProgram(program, env);
  if (path === undefined) return undefined;
  try {
    const { stdout } = await run(path, args, { cwd, env, timeout: programMs });
    return stdout.trim().split('\n').at(-1)?.trim() || undefined;
  } catch {
    return undefined; // there is no environment yet
  }
}

/** In a virtual environment. */
export const interpreterIn = (folder: string): string =>
  isWindows ? join(folder, 'Scripts', 'python.exe') : join(folder, 'bin', 'python');

/** The folder itself, or the nearest one above it, that has this entry. */
const folderWith = (name: string, dir: string): string | undefined => {
  if (isPresent(join(dir, name))) return dir;
  const parent = dirname(dir);
  return parent === dir ? undefined : folderWith(name, parent);
};

const findProgram = (name: string, { PATH, Path }: Environment): string | undefined => {
  const names = isWindows ? [`${name}.exe`] : [name];
  const folders = (PATH ?? Path ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.flatMap((folder) => names.map((each) => join(folder, each))).find(isFile);
};

/** A link is present without its target. */
export const isPresent = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;
export const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;
const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
