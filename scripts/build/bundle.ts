// Puts the modules of the server and of its dependencies into few files: a start reads 20 files instead of 1,300, and needs less than
// half of the CPU time (`npm run bench:start`).
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';

export interface Bundle {
  /** Modules in `src` that programs import by their path. */
  entries: string[];
  /** Packages that stay dependencies: those with native code, with programs of their own, and those that graphs must share. */
  external: string[];
}

// Bundled CommonJS packages call `require` for modules of Node. Node 20 has no `navigator`, and without it `pg` constructs a Response to
// find out whether it runs in a Cloudflare Worker, which loads the HTTP client of Node into each executor and exporter.
const requireOfBundle = `import { createRequire as createRequireOfBundle } from 'node:module';
const require = createRequireOfBundle(import.meta.url);
const navigatorOfBundle = globalThis.navigator ?? { userAgent: 'Node.js' };`;

/** Bundles modules of `src` into `outdir`. Relative paths start at `root`. */
export const bundleModules = async (
  root: string,
  folder: string,
  { entries, external }: Bundle,
  outdir: string,
): Promise<Metafile> => {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: entries.map((entry) => join(folder, 'src', entry)),
    outbase: join(folder, 'src'),
    outdir,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    // UMD modules, which some packages have as `main`, cannot be bundled.
    mainFields: ['module', 'main'],
    target: 'node20.19',
    external: external.flatMap((name) => [name, `${name}/*`]),
    banner: { js: requireOfBundle },
    define: { navigator: 'navigatorOfBundle' },
    keepNames: true,
    legalComments: 'none',
    sourcemap: true,
    sourcesContent: true,
    metafile: true,
    logLevel: 'warning',
  });
  return metafile;
};

/** Writes JavaScript into `dist` of the package in `folder`, and the licenses of what it contains. Paths are relative to `root`. */
export const bundlePackage = async (root: string, folder: string, bundle: Bundle): Promise<void> => {
  const dist = join(root, folder, 'dist');
  const metafile = await bundleModules(root, folder, bundle, dist);
  await writeFile(join(dist, 'LICENSES.txt'), await licensesOf(root, metafile));
};

/** The folder of the installed package that contains `file`, or undefined for a file of the checkout. Both are relative to the root. */
const installedFolderOf = (file: string): string | undefined =>
  /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0];

const licenseOf = async (folder: string): Promise<string> => {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
    name: string;
    version: string;
    license?: string;
  };
  const file = (await readdir(folder)).find((entry) => /^licen[cs]e(?:\.|$)/i.test(entry));
  if (file === undefined && license === undefined) throw new Error(`${name} has no license`);
  const text = file === undefined ? '' : `\n${(await readFile(join(folder, file), 'utf8')).trim()}\n`;
  return `${name} ${version}: ${license ?? 'see below'}\n${text}`;
};

const licensesOf = async (root: string, { inputs }: Metafile): Promise<string> => {
  const folders = new Set(Object.keys(inputs).flatMap((file) => installedFolderOf(file) ?? []));
  const licenses = await Promise.all([...folders].toSorted().map((folder) => licenseOf(join(root, folder))));
  return licenses.join(`\n${'-'.repeat(80)}\n\n`);
};
