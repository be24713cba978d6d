// Imports what a module of the project exports into the server process: the auth object and the custom app.
import { fileURLToPath, pathToFileURL } from 'node:url';
import { withVariable } from '../environment.ts';
import { exportOf } from './module-export.ts';
import { packageFile } from '../package-files.ts';
import type { GraphSource } from './graphs.ts';
import type { LoadedModules } from './loaded-modules.ts';
import { ConfigError } from './mistake.ts';

export interface ProjectModule extends GraphSource {
  /** Its place in the config file, for error messages. */
  readonly where: string;
  /** Path of the tsconfig.json of the project. */
  readonly tsconfig: string | undefined;
}

/** Throws a ConfigError when the module cannot be imported, or does not have the export. */
export const importExport = async (source: ProjectModule, modules?: LoadedModules): Promise<unknown> => {
  const { file, export: name } = source;
  let module: Record<string, unknown>;
  try {
    // Imported here, because most servers have no such module.
    const { tsImport } = await import('tsx/esm/api');
    // Every call loads the modules in a new namespace, so that `svc dev` gets the changed files.
    const tsconfig = source.tsconfig ?? fileURLToPath(packageFile('bin/no-tsconfig.json'));
    const onImport = modules ? { onImport: modules.add } : {};
    // The half of tsx that loads CommonJS has no option for the path. It reads the variable when it is registered, before `tsImport` returns;
    // without it, it would use the tsconfig.json of the working directory.
    module = (await withVariable('TSX_TSCONFIG_PATH', tsconfig, () =>
      tsImport(pathToFileURL(file).href, { parentURL: import.meta.url, tsconfig, ...onImport }),
    )) as Record<string, unknown>;
  } catch (cause) {
    modules?.afterImport(cause);
    const detail = cause instanceof Error ? `: ${cause.message}` : '';
    throw exportError(
      source,
      `${file} cannot be loaded${detail}`,
      'Fix the file; the server does not start without it.',
    );
  }
  modules?.afterImport();
  const exported = await exportOf(module, name);
  if (exported === undefined) {
    const names = Object.keys(module).join(', ') || 'nothing';
    throw exportError(
      source,
      `${file} does not export ${name}; it exports ${names}`,
      'Name an export after the colon.',
    );
  }
  return exported;
};

export const exportError = ({ where }: ProjectModule, problem: string, remedy: string): ConfigError =>
  new ConfigError({ where, problem, remedy });
