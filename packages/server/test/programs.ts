// Compiles the programs of executors, exporters and parser threads once for a test run. From the sources, every one of the hundreds that
// the tests start would transform and load the modules of the server again.
import { cp, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleModules } from '../../../scripts/build/bundle.ts';
import { publishedPackages } from '../../../scripts/build/packages.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const server = 'packages/server';
const entries = ['app/executor.ts', 'app/parser.ts', 'exports/exporter/main.ts'];

/** Writes the programs into a new folder, which looks like an installed package. Returns the folder of the programs. */
export const compilePrograms = async (folder: string): Promise<string> => {
  const bundle = publishedPackages.find((published) => published.folder === server)?.bundle;
  if (!bundle) throw new Error(`${server} has no bundle`);
  await mkdir(folder);
  const bin = join(folder, 'bin');
  await Promise.all([
    bundleModules(root, server, { ...bundle, entries }, join(folder, 'dist')),
    cp(join(root, server, 'bin'), bin, { recursive: true }),
    cp(join(root, server, 'package.json'), join(folder, 'package.json')),
    // For packages that are not in the bundle.
    symlink(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction'),
  ]);
  return bin;
};
