// Explains why a module of the project cannot be loaded: the place, the cause, and what to do.
import { existsSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, extname, isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf, stackOf } from '../codec/bounded-text.ts';

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
