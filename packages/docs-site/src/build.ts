// npm run build:docs: writes the site into the folder `guide` of @svc/server.
//   npm run build:docs -- --if-changed         unless an earlier build is newer than its sources
//   npm run build:docs -- --web build/site     for a web host: with screenshots, and without links to a server
import { existsSync, readdirSync, statSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { buildSite } from './site.ts';

const repository = join(import.meta.dirname, '../../..');
const guide = join(repository, 'packages/server/guide');

const sources = ['docs', 'bench', 'README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'ARCHITECTURE.md'];
const code = ['packages/docs-site/src', 'packages/console/src/ui/tokens.css', 'package-lock.json'];

const changedMs = (path: string): number =>
  statSync(path).isDirectory()
    ? Math.max(statSync(path).mtimeMs, ...readdirSync(path).map((name) => changedMs(join(path, name))))
    : statSync(path).mtimeMs;

/** `index.html` is written last, so that an interrupted build is repeated. */
const isUpToDate = (): boolean => {
  const index = join(guide, 'index.html');
  const newest = (): number =>
    Math.max(...[...sources, ...code].map((path) => changedMs(join(repository, path))));
  return existsSync(index) && statSync(index).mtimeMs > newest();
};

/** The server works without the guide, for example where only the dependencies of production are installed. */
const loadBuild = async (mayBeMissing: boolean): Promise<typeof buildSite | undefined> => {
  try {
    return (await import('./site.ts')).buildSite;
  } catch (error) {
    if (!mayBeMissing || (error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    process.stderr.write(
      'The guide is not built, because its packages are not installed: npm install --include=dev\n',
    );
    return undefined;
  }
};

const { values } = parseArgs({
  options: { web: { type: 'string' }, 'if-changed': { type: 'boolean', default: false } },
});
const { web, 'if-changed': ifChanged } = values;
const build = ifChanged && isUpToDate() ? undefined : await loadBuild(ifChanged);
if (build) {
  process.stderr.write('building the guide\n');
  const folder = web === undefined ? guide : resolve(web);
  const { files } = await build({ repository, isServed: web === undefined });
  // A folder that was named may contain other files.
  await rm(web === undefined ? folder : join(folder, 'assets'), { recursive: true, force: true });
  await mkdir(join(folder, 'assets'), { recursive: true });
  for (const [name, content] of files)
    if (name !== 'index.html') await writeFile(join(folder, name), content);
  await writeFile(join(folder, 'index.html'), files.get('index.html') ?? '');
}
