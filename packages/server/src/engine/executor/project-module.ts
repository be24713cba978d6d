// Imports a module of the project. The hooks of bin/project-modules.js decide its format, as `tsx` does.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

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
