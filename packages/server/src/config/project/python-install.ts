// Commands that install what a Python project needs, in the words of the program that manages its packages.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

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
