// Writes the compiled server into the folder of the first argument, with the files of the published package that the code reads.
import { cp, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleModules } from './bundle.ts';
import { serverPackage } from './packages.ts';
import { copyAssets } from './stage.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { folder: server, assets, bundle } = serverPackage;
const [, , target = ''] = process.argv;
const own = join(root, server);
const dist = join(target, 'dist');
await Promise.all([
  bundleModules(root, server, bundle, dist),
  copyAssets(join(own, 'src'), dist, assets),
  ...['bin', 'python', 'package.json'].map((name) =>
    cp(join(own, name), join(target, name), { recursive: true }),
  ),
  // The console is built separately, and may not exist yet.
  symlink(join(own, 'console'), join(target, 'console'), 'junction'),
]);
