// Where Python finds the modules of a project: in the folder of the config file, and in the folders that `dependencies` names.
import { statSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';

export const isPython = (file: string): boolean => extname(file) === '.py';

/** `pkg.module`: a name without a slash. */
export const isModuleName = (name: string): boolean =>
  /^[\p{ID_Start}_][\p{ID_Continue}]*(\.[\p{ID_Start}_][\p{ID_Continue}]*)*$/u.test(name);

/** A dependency that is a folder; the others are names of packages, with their versions. */
export const isLocal = (dependency: string): boolean =>
  dependency.startsWith('.') || dependency.startsWith('/');

/** The folders for `sys.path`, absolute. A package that keeps its modules in `src` is found without being installed. */
export function modulePaths(dependencies: unknown, dir: string): string[] {
  const named: unknown[] = Array.isArray(dependencies) ? dependencies : [];
  const local = named.filter((one): one is string => typeof one === 'string' && isLocal(one));
  const folders = [dir, ...local.map((one) => resolve(dir, one))].filter(isFolder);
  return [...new Set(folders.flatMap(withSource))];
}

/** The file of a module in one of these folders. */
export const findModule = (name: string, paths: readonly string[]): string | undefined => {
  const path = name.split('.');
  return paths
    .flatMap((folder) => [join(folder, ...path, '__init__.py'), `${join(folder, ...path)}.py`])
    .find(isFile);
};

const projectFiles = ['pyproject.toml', 'setup.py', 'setup.cfg'];

const withSource = (folder: string): string[] => {
  const source = join(folder, 'src');
  const isPackage = projectFiles.some((name) => isFile(join(folder, name)));
  // A `src` that is itself a package is imported as `src.module`.
  return isPackage && isFolder(source) && !isFile(join(source, '__init__.py')) ? [folder, source] : [folder];
};

const statOf = (path: string) =>
  path.includes('\0') ? undefined : statSync(path, { throwIfNoEntry: false });
const isFolder = (path: string): boolean => statOf(path)?.isDirectory() === true;
const isFile = (path: string): boolean => statOf(path)?.isFile() === true;
