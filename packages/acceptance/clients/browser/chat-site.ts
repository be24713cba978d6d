// Bundles a page of `app` and serves it.
import { fileURLToPath } from 'node:url';
import { build, type BuildOptions } from 'esbuild';
import { serveSite, type Site } from './browser.ts';

export interface ChatPageKind {
  hook: 'classic' | 'current';
  /** Bundles this folder's SDK instead of the version that the hook's package pins, like `overrides` of npm. */
  newestSdk?: boolean;
}

const sdk = '@langchain/langgraph-sdk';
const html =
  '<!doctype html><meta charset="utf-8"><title>Chat</title><body><script type="module" src="/app.js"></script>';

export const serveChat = ({ hook, newestSdk = false }: ChatPageKind): Promise<Site> =>
  servePage(hook, newestSdk ? { alias: { [sdk]: sdk } } : {});

/** Bundles `app/<name>.tsx`, and serves the page of it. */
export const servePage = async (name: string, options: BuildOptions = {}): Promise<Site> => {
  const { outputFiles } = await build({
    ...options,
    entryPoints: [fileURLToPath(new URL(`./app/${name}.tsx`, import.meta.url))],
    bundle: true,
    write: false,
    format: 'esm',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    // esbuild resolves an alias from the working directory, not from the importing package.
    absWorkingDir: fileURLToPath(new URL('..', import.meta.url)),
  });
  return serveSite({
    '/': { type: 'text/html', body: html },
    '/app.js': { type: 'text/javascript', body: outputFiles[0]!.text },
  });
};
