// Imports a module of the project. The hooks of bin/project-modules.js decide its format, as `tsx` does.
import { createRequire, isBuiltin } from 'node:module';
import { pathToFileURL, fileURLToPath } from 'node:url';
import { existsSync, readFileSync } from 'node:fs';
import { basename, extname, isAbsolute } from 'node:path';
import { messageOf, stackOf } from '../../codec/bounded-text.ts';

type Exports = Record<string, unknown>;

export const importProjectModule = async (file: string): Promise<Exports> => {
  // tsx resolves what a .cts file requires only if the file itself was required.
  if (file.endsWith('.cts')) return createRequire(file)(file) as Exports;
  const { href } = pathToFileURL(file);
  try {
    return (await import(href)) as Exports;
  } catch (error) {
    if (!usesTopLevelAwait(error)) throw error;
    // bin/module-hooks.js
    return (await import(`${href}?svc-module`)) as Exports;
  }
};

/** CommonJS has no top-level await: such a file is meant to be an ES module although its package.json has no "type". */
const usesTopLevelAwait = (error: unknown): boolean => {
  const { message = '', code } = error as Partial<NodeJS.ErrnoException>;
  return (
    code === 'ERR_REQUIRE_ASYNC_MODULE' || message.includes('Top-level await is currently not supported')
  );
};

// Explains why a module of the project cannot be loaded: the place, the cause, and what to do.

/** `file` is the module that was imported. The place may be in a file that it imports. */
export const explainImport = (file: string, error: unknown): string => {
  const message = messageOf(error);
  const missing = missingModule(message);
  const place =
    missing === undefined ? (placeIn(message) ?? placeIn(stackOf(error) ?? '')) : importOf(missing, message);
  // esbuild and Node begin some messages with the place.
  const cause = place === undefined || message.includes(place) ? message : `${message} (${place})`;
  return `${file}: ${cause}. ${remedyFor(message, missing)}`;
};

/** The first `file:line:column` or `file:line` of the project's own code, as an absolute path. */
const placeIn = (text: string): string | undefined => {
  for (const [, file = '', position = ''] of text.matchAll(
    /((?:file:\/\/)?(?:\/|[A-Za-z]:[\\/])[^\n():?]+\.[cm]?[jt]sx?)(?:\?[^:\s]*)?((?::\d+){1,2})/g,
  ))
    if (!file.includes('node_modules')) return toPath(file) + position;
  return undefined;
};

const toPath = (file: string): string => (file.startsWith('file:') ? fileURLToPath(file) : file);

/** The package, the path or the URL that an import did not find. */
const missingModule = (message: string): string | undefined =>
  /Cannot find (?:package|module) '([^']+)'/.exec(message)?.[1];

/** The line of the import: Node's error has only its file. */
const importOf = (missing: string, message: string): string | undefined => {
  const [, importer] = /imported from (\S+)/.exec(message) ?? /Require stack:\n- (.+)/.exec(message) ?? [];
  if (importer === undefined || !isAbsolute(toPath(importer)) || !existsSync(toPath(importer)))
    return undefined;
  const name = basename(missing, extname(missing));
  const lines = readFileSync(toPath(importer), 'utf8').split('\n');
  const at = lines.findIndex((line) => /import|require|from/.test(line) && line.includes(name));
  return at < 0 ? undefined : `${toPath(importer)}:${at + 1}`;
};

const remedyFor = (message: string, missing: string | undefined): string => {
  if (missing === undefined)
    return /Transform failed|SyntaxError|Unexpected/.test(message)
      ? 'Correct the syntax.'
      : 'The module throws while it is imported: correct it.';
  if (/^[./\\]|^[A-Za-z]:|^file:/.test(missing) || isBuiltin(missing))
    return 'Create the file, or correct the import.';
  const [scope = '', name = ''] = missing.split('/');
  return `Install it (npm install ${scope.startsWith('@') ? `${scope}/${name}` : scope}), or add it to "paths" of tsconfig.json.`;
};
