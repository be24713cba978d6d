// The Python interpreter of a project, with the versions of itself and of the packages that svc uses.
import { execFile } from 'node:child_process';
import { basename, delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as z from 'zod';
import { packageFile } from '../package-files.ts';
import { ConfigError } from './mistake.ts';
import type { PythonConfig } from './python.ts';
import { existsSync, lstatSync, readFileSync, statSync } from 'node:fs';

export interface PythonInterpreter {
  /** Absolute. */
  readonly path: string;
  /** What named it: `python` of the config file, a variable, an environment or a program. */
  readonly origin: string;
  /** It was found in the PATH, and is not that of an environment of the project. */
  readonly isShared: boolean;
  readonly version: string;
  /** Versions of the packages that svc uses; null for those that are not installed. */
  readonly packages: Readonly<Record<string, string | null>>;
}

export interface PythonProject {
  /** The folder of the config file. */
  readonly dir: string;
  /** The config file. */
  readonly file: string;
  readonly python: PythonConfig;
}

const run = promisify(execFile);
const oldest = [3, 11] as const;
const probeMs = 20_000;

/** Throws a ConfigError when no interpreter is found, or when the one that is found cannot execute the project. */
export async function findInterpreter(
  project: PythonProject,
  env: Readonly<Record<string, string>>,
): Promise<PythonInterpreter> {
  const candidate = await findCandidate(project.python.interpreter, project.dir, env);
  if (candidate === undefined)
    throw mistake(project, {
      problem: 'has Python files, and no Python interpreter was found',
      remedy: `Run ${createCommand(project.dir)}, or name one: "python": ".venv/bin/python".`,
      missingFile: interpreterIn(join(project.dir, '.venv')),
    });
  const { path, origin, isShared = false } = candidate;
  if (!isFile(path))
    throw mistake(project, {
      problem: isPresent(path)
        ? `${path} (${origin}) is a link to a Python that does not exist any more`
        : `there is no Python at ${path} (${origin})`,
      remedy: `Run ${createCommand(project.dir)}, or name another: "python": ".venv/bin/python".`,
      missingFile: path,
    });
  const interpreter = { path, origin, isShared, ...(await describe(project, candidate, env)) };
  check(project, interpreter);
  return interpreter;
}

/** One line for the log: the interpreter and the packages. */
export const interpreterText = ({ path, origin, version, packages }: PythonInterpreter): string => {
  const known = Object.entries(packages).filter(([, installed]) => installed !== null);
  const versions = known.map(([name, installed]) => `${name} ${installed}`);
  return [`Python ${version} (${path}, ${origin})`, ...versions].join(', ');
};

/** What the operator should know of an interpreter that is used. */
export function interpreterWarnings(
  { python, file }: PythonProject,
  { path, version }: PythonInterpreter,
): string[] {
  const [, minor = 0] = version.split('.').map(Number);
  const wanted = python.version?.trim();
  return [
    ...(minor > 14 ? [`Python ${version} (${path}) is newer than svc was tested with: 3.11 to 3.14`] : []),
    ...(wanted === undefined || version === wanted || version.startsWith(`${wanted}.`)
      ? []
      : [`${basename(file)}: python_version names Python ${wanted}, and ${path} is Python ${version}`]),
  ];
}

const Description = z.object({
  version: z.string(),
  packages: z.record(z.string(), z.string().nullable()),
});

async function describe(
  project: PythonProject,
  { path, origin }: Candidate,
  env: Readonly<Record<string, string>>,
): Promise<z.infer<typeof Description>> {
  const script = fileURLToPath(packageFile('python/describe_environment.py'));
  try {
    const { stdout } = await run(path, [script], {
      env: { ...env, PYTHONDONTWRITEBYTECODE: '1' },
      timeout: probeMs,
    });
    return Description.parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''));
  } catch (error) {
    throw mistake(project, {
      problem: `${path} (${origin}) cannot be executed: ${reasonOf(error)}`,
      remedy: `Run ${createCommand(project.dir)}, or name another: "python": ".venv/bin/python".`,
    });
  }
}

const reasonOf = (error: unknown): string => {
  const { code, stderr, killed } = error as { code?: unknown; stderr?: string; killed?: boolean };
  if (killed === true) return `it did not end within ${probeMs / 1_000} s`;
  if (code === 'EACCES') return 'it is not executable';
  const line = stderr?.trim().split('\n').at(-1);
  return line !== undefined && line !== '' ? line.slice(0, 300) : 'it printed no version';
};

function check(
  project: PythonProject,
  { path, origin, version, packages, isShared }: PythonInterpreter,
): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < oldest[0] || (major === oldest[0] && minor < oldest[1]))
    throw mistake(project, {
      problem: `Python ${version} (${path}, ${origin}) is too old: svc needs ${oldest.join('.')} or newer`,
      remedy: `Run ${createCommand(project.dir)} with a newer Python, or name another: "python": ".venv/bin/python".`,
    });
  for (const [name, needed] of Object.entries(project.python.needs)) {
    const installed = packages[name] ?? undefined;
    const at = `${path} (${origin})`;
    if (installed === undefined)
      throw mistake(project, {
        problem: `${name} is not installed for ${at}`,
        // Packages are not installed into the Python of the system.
        remedy: `Run ${isShared ? createCommand(project.dir) : installCommand(project.dir, { interpreter: path, name, needed })}.`,
      });
    if (isOlder(installed, needed))
      throw mistake(project, {
        problem: `${name} ${installed} of ${at} is too old: svc needs ${needed} or newer`,
        remedy: `Run ${upgradeCommand(project.dir, { interpreter: path, name, needed })}.`,
      });
  }
}

/** Compares the numbers of two versions. */
const isOlder = (version: string, than: string): boolean => {
  const [left, right] = [version, than].map((text) =>
    text.split('.').map((part) => Number.parseInt(part, 10)),
  );
  for (const [at, wanted] of (right ?? []).entries()) {
    const found = left?.[at] ?? 0;
    if (Number.isNaN(found) || found !== wanted) return found < wanted;
  }
  return false;
};

const mistake = (
  { file }: PythonProject,
  fields: { problem: string; remedy: string; missingFile?: string },
): ConfigError => new ConfigError({ where: basename(file), ...fields });

// Commands that install what a Python project needs, in the words of the program that manages its packages.

interface Missing {
  interpreter: string;
  name: string;
  /** Its oldest version. */
  needed: string;
}

/** Creates the environment of the project with its packages. */
export function createCommand(dir: string): string {
  if (isIn(dir, 'uv.lock')) return 'uv sync';
  if (isIn(dir, 'poetry.lock')) return 'poetry install';
  return `python3 -m venv .venv && .venv/bin/pip install ${packagesOf(dir) ?? 'langgraph'}`;
}

/** Installs the packages of the project, or the missing one if the project has no list of packages. */
export function installCommand(dir: string, { interpreter, name, needed }: Missing): string {
  if (isIn(dir, 'uv.lock')) return 'uv sync';
  if (isIn(dir, 'poetry.lock')) return 'poetry install';
  return `${pip(interpreter, 'install')} ${packagesOf(dir) ?? `"${name}>=${needed}"`}`;
}

export function upgradeCommand(dir: string, { interpreter, name, needed }: Missing): string {
  const wanted = `"${name}>=${needed}"`;
  if (isIn(dir, 'uv.lock')) return `uv add ${wanted}`;
  if (isIn(dir, 'poetry.lock')) return `poetry add ${wanted}`;
  return `${pip(interpreter, 'install --upgrade')} ${wanted}`;
}

/** An environment that uv created has no pip. */
const pip = (interpreter: string, command: string): string => {
  const settings = join(dirname(dirname(interpreter)), 'pyvenv.cfg');
  return existsSync(settings) && /^uv\s*=/m.test(readFileSync(settings, 'utf8'))
    ? `uv pip ${command} --python ${interpreter}`
    : `${interpreter} -m pip ${command}`;
};

const packagesOf = (dir: string): string | undefined => {
  if (existsSync(join(dir, 'requirements.txt'))) return '-r requirements.txt';
  return existsSync(join(dir, 'pyproject.toml')) ? '-e .' : undefined;
};

/** In the folder, or in one above it. */
const isIn = (dir: string, name: string): boolean =>
  existsSync(join(dir, name)) || (dirname(dir) !== dir && isIn(dirname(dir), name));

// Searches the Python interpreter of a project. The first place that names one decides; it is not checked whether it works.

/** A path that may be an interpreter, or may have been one. */
export interface Candidate {
  path: string;
  /** What named it. */
  origin: string;
  /** Found in the PATH. */
  isShared?: boolean;
}

type Environment = Readonly<Record<string, string>>;

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
