// The modules of the project that a process has loaded. `svc dev` watches their files.
import { createRequire } from 'node:module';
import { dirname, isAbsolute, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { packageFile } from '../package-files.ts';

/** The package of the server itself. */
const ownFolder = packageFile('').href;
const { cache } = createRequire(import.meta.url);

export class LoadedModules {
  readonly #report: (files: string[]) => void;
  readonly #seen = new Set<string>();
  #unreported: string[] = [];

  /** `report` receives each file once, in batches. */
  constructor(report: (files: string[]) => void) {
    this.#report = report;
  }

  /** Adds the module with this URL. Ignores installed packages, the modules of the server, and URLs that are not files. */
  readonly add = (url: string): void => {
    if (!url.startsWith('file:') || url.includes('/node_modules/') || url.startsWith(ownFolder)) return;
    const file = fileURLToPath(url);
    if (this.#seen.has(file)) return;
    this.#seen.add(file);
    if (this.#unreported.push(file) === 1) setImmediate(() => this.#report(this.#unreported.splice(0)));
  };

  /** Call after an import, with its error if it failed. Adds the modules that `add` was not called for. */
  readonly afterImport = (error?: unknown): void => {
    // Module hooks are not called for what a CommonJS module requires. Keys may have a query after the path.
    for (const key of Object.keys(cache)) {
      const [path = ''] = key.split('?');
      if (isAbsolute(path)) this.add(pathToFileURL(path).href);
    }
    // The import works once the file exists that it did not find.
    const url = error instanceof Error ? missingUrl(error) : undefined;
    if (url === undefined) return;
    for (const candidate of [url, url.replace(/\.([mc]?)js$/, '.$1ts'), `${url}.ts`]) this.add(candidate);
  };
}

/** The URL that an import did not find. The error of a `require` has the request and the file that sent it. */
const missingUrl = (error: Error & { url?: unknown; requireStack?: unknown }): string | undefined => {
  if (typeof error.url === 'string') return error.url;
  const [, request = ''] = /^Cannot find module '([^']+)'/.exec(error.message) ?? [];
  const [sender] = Array.isArray(error.requireStack) ? (error.requireStack as unknown[]) : [];
  if (typeof sender !== 'string' || !(request.startsWith('.') || isAbsolute(request))) return undefined;
  return pathToFileURL(resolve(dirname(sender), request)).href;
};
