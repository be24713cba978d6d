// The Python half of a project: what its Python processes are started with.
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Mistake } from './mistake.ts';
import { isLocal, modulePaths } from './python-modules.ts';

export interface PythonConfig {
  /** Folders that are appended to `sys.path`, absolute. */
  readonly paths: readonly string[];
  /** `python` of the config file, absolute if it is a path; undefined: the interpreter is searched. */
  readonly interpreter: string | undefined;
  /** `python_version`: "3.12". */
  readonly version: string | undefined;
  /** The packages that the files need, with their oldest versions. */
  readonly needs: Readonly<Record<string, string>>;
  /** `checkpointer.serde.allowed_msgpack_modules`: further classes, as [module, name], that stored values may have. */
  readonly storedClasses: readonly (readonly string[])[];
}

/** How a Python process of the project is started. */
export interface PythonLaunch {
  /** Absolute. */
  readonly interpreter: string;
  /** Folders that are appended to `sys.path`, absolute. */
  readonly paths: readonly string[];
  /** Classes, as [module, name], that stored values may have in addition to those of the graphs. */
  readonly storedClasses: readonly (readonly string[])[];
}

interface PythonSections {
  python?: string | undefined;
  python_version?: string | undefined;
  dependencies?: string[] | undefined;
  checkpointer?: { [key: string]: unknown } | undefined;
}

interface Reading {
  dir: string;
  where: (path: (string | number)[]) => string;
  mistakes: Mistake[];
  hasGraphs: boolean;
}

/** Of a project with Python files. `hasGraphs`: graphs are among them. */
export function readPython(
  sections: PythonSections,
  { dir, where, mistakes, hasGraphs }: Reading,
): PythonConfig {
  const { dependencies = [], python, python_version } = sections;
  for (const [at, dependency] of dependencies.entries()) {
    const folder = resolve(dir, dependency);
    if (isLocal(dependency) && statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
      mistakes.push({
        where: where(['dependencies', at]),
        value: JSON.stringify(dependency),
        problem: `there is no folder ${folder}`,
        remedy: 'Correct the path, or remove it.',
        missingFile: folder,
      });
  }
  return {
    paths: modulePaths(dependencies, dir),
    // A name without a slash is searched in the PATH.
    interpreter: python !== undefined && /[\\/]/.test(python) ? resolve(dir, python) : python,
    version: python_version,
    // The auth object is a class of the SDK.
    needs: hasGraphs ? { langgraph: '1.0' } : { 'langgraph-sdk': '0.2' },
    storedClasses: readClasses(sections.checkpointer?.['serde'], { where, mistakes }),
  };
}

const readClasses = (
  serde: unknown,
  { where, mistakes }: Pick<Reading, 'where' | 'mistakes'>,
): string[][] => {
  const given = (serde as { allowed_msgpack_modules?: unknown } | undefined)?.allowed_msgpack_modules;
  // The stock server accepts `true` for all classes of its own list.
  if (given === undefined || given === null || given === true) return [];
  const isClass = (one: unknown): one is string[] =>
    Array.isArray(one) && one.length >= 2 && one.every((part) => typeof part === 'string');
  if (Array.isArray(given) && given.every(isClass)) return given;
  mistakes.push({
    where: where(['checkpointer', 'serde', 'allowed_msgpack_modules']),
    problem: 'is not a list of classes',
    remedy: 'Write [["my_package.models", "Order"]]: the module of a class, and its name.',
  });
  return [];
};
