// Assembles a package for publication in a folder of its own: compiled code, other files, and a manifest whose entries point to the
// compiled code. The manifests of the checkout keep pointing to the sources.
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { publishedManifest, type SourceManifest } from './manifest.ts';
import { withScope, type PublishedPackage } from './packages.ts';

const filesOf = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** TypeScript writes `.ts` into the imports of declarations; consumers have `.d.ts` and `.js` only. */
const withJsImports = (declarations: string): string =>
  declarations.replaceAll(/((?:from|import)\s*\(?\s*['"]\.{1,2}\/[^'"]+)\.ts(['"])/g, '$1.js$2');

const textEndings = /\.(?:js|ts|json|md|html)$/;

const rewriteTexts = async (folder: string): Promise<void> => {
  for (const file of await filesOf(folder)) {
    if (!textEndings.test(file)) continue;
    const text = await readFile(file, 'utf8');
    const changed = withScope(file.endsWith('.d.ts') ? withJsImports(text) : text);
    if (changed !== text) await writeFile(file, changed);
  }
};

/** Copies files that TypeScript does not emit, such as SQL. */
export const copyAssets = async (source: string, target: string, endings: string[]): Promise<void> => {
  for (const file of await filesOf(source)) {
    if (!endings.some((ending) => file.endsWith(ending))) continue;
    const copy = join(target, file.slice(source.length));
    await mkdir(dirname(copy), { recursive: true });
    await cp(file, copy);
  }
};

/** Fills `target` with the package in `root`, whose compiled code is in its `dist` already. */
export const stagePackage = async (
  root: string,
  { folder, readme, files, assets, copies, bundle }: PublishedPackage,
  target: string,
): Promise<void> => {
  const source = join(root, folder);
  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true });
  await copyAssets(join(source, 'src'), join(source, 'dist'), assets);
  for (const name of ['dist', ...files]) {
    const filter = (path: string) => !path.endsWith('__pycache__');
    await cp(join(source, name), join(target, name), { recursive: true, filter });
  }
  for (const [name, from] of Object.entries(copies)) {
    // Pictures of the documentation are larger than the rest of the package.
    const filter = (path: string) => !/[\\/](?:node_modules|\.svc|\.venv|__pycache__)$|\.png$/.test(path);
    await cp(join(root, from), join(target, name), { recursive: true, filter });
  }
  await cp(join(root, 'LICENSE'), join(target, 'LICENSE'));
  await cp(join(root, readme), join(target, 'README.md'));
  const manifest = JSON.parse(await readFile(join(source, 'package.json'), 'utf8')) as SourceManifest;
  await writeFile(
    join(target, 'package.json'),
    `${JSON.stringify(publishedManifest(manifest, bundle), null, 2)}\n`,
  );
  await rewriteTexts(target);
};
