// Builds the Vite template of create-agent-chat-app as it is, and serves it.
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { serveSite, type Site } from './browser.ts';

const run = promisify(execFile);
const folder = fileURLToPath(new URL('../../agent-chat-ui', import.meta.url));
const template = join(folder, 'node_modules/create-agent-chat-app/templates/vite');
const types: Record<string, string> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
};

const filesIn = async (dist: string) => {
  const entries = await readdir(dist, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  return Promise.all(
    paths.map(async (path) => {
      const type = types[extname(path)] ?? 'application/octet-stream';
      return [`/${relative(dist, path)}`, { type, body: await readFile(path) }] as const;
    }),
  );
};

export const serveAgentChatUi = async (): Promise<Site> => {
  const app = await mkdtemp(join(folder, 'tmp-'));
  try {
    await cp(template, app, { recursive: true });
    await run(join(folder, 'node_modules/.bin/vite'), ['build', '--logLevel', 'error'], { cwd: app });
    const files = Object.fromEntries(await filesIn(join(app, 'dist')));
    return await serveSite({ ...files, '/': files['/index.html']! });
  } finally {
    await rm(app, { recursive: true, force: true });
  }
};
