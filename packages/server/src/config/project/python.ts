// The Python half of a project: what its Python processes are started with.
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Mistake } from './mistake.ts';
import { isLocal, isPython, modulePaths } from './python-modules.ts';

export interface PythonConfig {
  /** Folders that are appended to `sys.path`, absolute. */
  readonly paths: readonly string[];
  /** `python` of the config file, absolute if it is a path; undefined: the interpreter is searched. */
  readonly interpreter: string | undefined;
  /** `python_version`: "3.12". */
  readonly version: string | undefined;
  /** The packages that the files need, with their oldest versions. */
  readonly needs: Readonly<Record<string, string>>;
  /** `checkpointer.serde.allowed_msgpack_modules`. */
  readonly storedClasses: StoredClasses;
}

/** Classes, as [module, name], that stored values may have in addition to those of the graphs. */
export type StoredClasses = 'all' | readonly (readonly string[])[];

/** How a Python process of the project is started. */
export interface PythonLaunch {
  /** Absolute. */
  readonly interpreter: string;
  /** Folders that are appended to `sys.path`, absolute. */
  readonly paths: readonly string[];
  readonly storedClasses: StoredClasses;
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
}

/** The files of a project, in any language. */
interface Sources {
  graphs: readonly { file: string }[];
  auth: { file: string } | undefined;
  app: { file: string } | undefined;
  embed: { kind: string } | undefined;
}

/** Undefined for a project without Python files. */
export function readPython(
  sections: PythonSections,
  { dir, where, mistakes }: Reading,
  sources: Sources,
): PythonConfig | undefined {
  const needs = needsOf(sources);
  if (Object.keys(needs).length === 0 && sources.embed?.kind !== 'python') return undefined;
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
    needs,
    storedClasses: readClasses(sections.checkpointer?.['serde'], { where, mistakes }),
  };
}

/** By package, its oldest version. */
const needsOf = ({ graphs, auth, app }: Sources): Record<string, string> => ({
  ...(graphs.some(({ file }) => isPython(file)) ? { langgraph: '1.0' } : {}),
  // The auth object is one of the SDK.
  ...(auth && isPython(auth.file) ? { 'langgraph-sdk': '0.2' } : {}),
  // FastAPI brings it.
  ...(app && isPython(app.file) ? { starlette: '0.37' } : {}),
});

const readClasses = (
  serde: unknown,
  { where, mistakes }: Pick<Reading, 'where' | 'mistakes'>,
): StoredClasses => {
  const given = (serde as { allowed_msgpack_modules?: unknown } | undefined)?.allowed_msgpack_modules;
  if (given === true) return 'all';
  if (given === undefined || given === null || given === false) return [];
  const isClass = (one: unknown): one is string[] =>
    Array.isArray(one) && one.length >= 2 && one.every((part) => typeof part === 'string');
  if (Array.isArray(given) && given.every(isClass)) return given;
  mistakes.push({
    where: where(['checkpointer', 'serde', 'allowed_msgpack_modules']),
    problem: 'is not a list of classes',
    remedy:
      'Write [["my_package.models", "Order"]]: the module of a class, and its name; or true for all classes.',
  });
  return [];
};
