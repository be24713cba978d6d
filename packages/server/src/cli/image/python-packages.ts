// How an image installs the packages of a Python project: by the lock file of uv or poetry, else by pip.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { configError } from '../../config/project/mistake.ts';
import { isLocal } from '../../config/project/python-modules.ts';
import type { SvcJson } from '../../config/project/svc-json.ts';
import { inImage, isInside } from './local-packages.ts';

export interface PythonPackages {
  /** The folder of the lock file or of the config file, absolute. */
  readonly root: string;
  /** The folder in which the commands are executed, absolute. */
  readonly folder: string;
  /** The packages that install the others, such as `uv`. */
  readonly tools: readonly string[];
  /** Files in `root` that decide which packages are installed, as far as they exist. Undefined: all files of the project. */
  readonly files: readonly string[] | undefined;
  /** Variables of the installation. */
  readonly env: Readonly<Record<string, string>>;
  /** Commands that install the packages when `files` are copied. */
  readonly install: readonly string[];
  /** Commands that follow when all files are copied. */
  readonly complete: readonly string[];
  /** Installs a package that is appended. */
  readonly add: string;
  /** Every build installs the same versions, as far as a list of packages names them. */
  readonly isLocked: boolean;
}

/** The environment of the image. */
export const venv = '/app/.venv';

const tools = '/opt/tools/bin';
const createVenv = `python3 -m venv ${venv}`;
const pip = `${venv}/bin/pip install --disable-pip-version-check`;
const uvPip = `${tools}/uv pip install --python ${venv}`;

export function findPythonPackages({ dir, raw }: SvcJson): PythonPackages {
  const source = readSource(raw['source'], dir);
  if (source !== undefined) return uvPackages(source.root, dir, source.package);
  const uvRoot = folderWith('uv.lock', dir);
  if (uvRoot !== undefined) return uvPackages(uvRoot, dir);
  const poetryRoot = folderWith('poetry.lock', dir);
  return poetryRoot === undefined ? pipPackages(dir, raw) : poetryPackages(poetryRoot);
}

/** `source` of the config file names a project of uv. */
function readSource(source: unknown, dir: string): { root: string; package?: string } | undefined {
  if (source === undefined) return undefined;
  const { kind, root = '.', package: name } = source as Record<string, unknown>;
  const where = `${dir}: source`;
  if (kind !== 'uv' || typeof root !== 'string')
    throw configError(where, 'is not that of a uv project', 'Write {"kind": "uv", "root": "."}.');
  const folder = resolve(dir, root);
  if (!existsSync(join(folder, 'uv.lock')))
    throw configError(where, `there is no uv.lock in ${folder}`, 'Run uv lock there, or correct "root".');
  if (!isInside(folder, dir))
    throw configError(where, `${folder} does not contain the config file`, 'Correct "root".');
  return { root: folder, ...(typeof name === 'string' ? { package: name } : {}) };
}

/** This folder, or the nearest one above, that has the file. */
function folderWith(name: string, dir: string): string | undefined {
  if (existsSync(join(dir, name))) return dir;
  return dirname(dir) === dir ? undefined : folderWith(name, dirname(dir));
}

/** A build secret instead of a file of the image: pip and uv read credentials of indexes from it. */
const withNetrc = '--mount=type=secret,id=netrc,target=/root/.netrc';

function uvPackages(root: string, dir: string, name?: string): PythonPackages {
  // In the folder of a member of a workspace, uv installs what this member needs.
  const folder = name === undefined ? (folderWith('pyproject.toml', dir) ?? root) : root;
  const project = readIfExists(join(root, 'pyproject.toml'));
  // Other folders that the lock file describes must be there.
  const isSimple = dir === root && !/^\s*\[tool\.uv\.(?:workspace|sources)/m.test(project);
  const sync = ['uv sync --locked --no-dev', ...(name === undefined ? [] : [`--package ${quoted(name)}`])];
  const run = (...more: string[]): string => `${withNetrc} ${tools}/${[...sync, ...more].join(' ')}`;
  return {
    root,
    folder,
    tools: ['uv'],
    files: isSimple ? ['pyproject.toml', 'uv.lock', 'uv.toml'] : undefined,
    // The Python of the image, whatever .python-version names.
    env: {
      UV_PROJECT_ENVIRONMENT: venv,
      UV_PYTHON: 'python3',
      UV_COMPILE_BYTECODE: '1',
      UV_LINK_MODE: 'copy',
    },
    install: isSimple ? [run('--no-install-project')] : [],
    complete: [run()],
    add: uvPip,
    isLocked: true,
  };
}

function poetryPackages(root: string): PythonPackages {
  const install = `${tools}/poetry install --only main --compile --no-interaction`;
  return {
    root,
    folder: root,
    tools: ['poetry'],
    files: ['pyproject.toml', 'poetry.lock', 'poetry.toml'],
    // poetry installs into the active environment.
    env: { VIRTUAL_ENV: venv },
    install: [createVenv, `${install} --no-root`],
    complete: [install],
    add: pip,
    isLocked: true,
  };
}

interface PipSections {
  dependencies?: string[] | undefined;
  [key: string]: unknown;
}

function pipPackages(dir: string, raw: PipSections): PythonPackages {
  const { dependencies = ['.'] } = raw;
  const lists = dependencies.filter(isLocal).map((one) => requirementsOf(resolve(dir, one), dir));
  const found = lists.filter((one) => one !== undefined);
  const words = [
    ...found.map(({ option, path }) => `${option} ${quoted(path)}`),
    ...dependencies.filter((one) => !isLocal(one)).map(quoted),
  ];
  if (words.length === 0)
    throw configError(
      dir,
      'there is no list of Python packages: uv.lock, poetry.lock, requirements.txt or pyproject.toml',
      'An image installs the packages of such a list: run pip freeze > requirements.txt, or uv init and uv add.',
    );
  const usesUv = raw['pip_installer'] === 'uv';
  const config = readPipConfig(raw['pip_config_file'], dir);
  const texts = found.flatMap(({ option, path }) => (option === '-r' ? [readIfExists(join(dir, path))] : []));
  const files = [...found.map(({ path }) => path), ...(config === undefined ? [] : [config])];
  // Only files beside the config file are copied before the others.
  const isSimple =
    texts.length === found.length && !texts.some(namesFiles) && !files.some((path) => path.includes('/'));
  return {
    root: dir,
    folder: dir,
    tools: usesUv ? ['uv'] : [],
    files: isSimple ? files : undefined,
    env: config === undefined ? {} : { PIP_CONFIG_FILE: `/app/${config}` },
    install: [createVenv, `${withNetrc} ${usesUv ? uvPip : pip} ${words.join(' ')}`],
    complete: [],
    add: usesUv ? uvPip : pip,
    isLocked: found.every(({ option }) => option === '-r'),
  };
}

const projectFiles = ['pyproject.toml', 'setup.py', 'setup.cfg'];

/** What installs the packages of a folder, relative to `dir`; undefined when nothing in it names packages. */
function requirementsOf(folder: string, dir: string): { option: '-r' | '-e'; path: string } | undefined {
  if (!isInside(dir, folder))
    throw configError(
      `${dir}: dependencies`,
      `${folder} is not in the folder of the config file, which an image build sees`,
      'Move it there, or use a workspace of uv with "source".',
    );
  if (existsSync(join(folder, 'requirements.txt')))
    return { option: '-r', path: inImage(dir, join(folder, 'requirements.txt')) };
  return projectFiles.some((name) => existsSync(join(folder, name)))
    ? { option: '-e', path: inImage(dir, folder) || '.' }
    : undefined;
}

/** Lines that name other files of the project: `-r more.txt`, `-e .`, `./wheels/a.whl`, `a @ file:…`. */
const namesFiles = (requirements: string): boolean =>
  /^\s*(?:-[rce]\b|--(?:requirement|constraint|editable|find-links)\b|\.|\/)|file:|\.whl\b/m.test(
    requirements,
  );

function readPipConfig(named: unknown, dir: string): string | undefined {
  if (typeof named !== 'string') return undefined;
  const file = resolve(dir, named);
  if (existsSync(file) && isInside(dir, file)) return inImage(dir, file);
  throw configError(
    `${dir}: pip_config_file`,
    `there is no file ${named} in the folder of the config file`,
    'Correct the path, or remove it.',
  );
}

const readIfExists = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');

/** A word of a command of the shell. */
const quoted = (word: string): string =>
  /^[\w./@%+,:=-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
