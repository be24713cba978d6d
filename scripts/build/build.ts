// npm run build: compiles the published packages into their `dist` folders, and packs them as tarballs in build/tarballs.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, stat, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundlePackage } from './bundle.ts';
import { publishedPackages, scope } from './packages.ts';
import { stagePackage } from './stage.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const tarballs = join(root, 'build', 'tarballs');

const run = (file: string, ...args: string[]): void => {
  execFileSync(process.execPath, [file, ...args], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
};

const compile = async (folder: string): Promise<void> => {
  await rm(join(root, folder, 'dist'), { recursive: true, force: true });
  run(join(root, 'node_modules/typescript/bin/tsc'), '-p', join(folder, 'tsconfig.build.json'));
};

const pack = (folder: string): void => {
  execFileSync('npm', ['pack', folder, '--pack-destination', tarballs, '--ignore-scripts', '--silent'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32', // npm is a .cmd file there
  });
};

// The folder also has what test programs and earlier test runs have left.
for (const built of ['packages', 'tarballs'])
  await rm(join(root, 'build', built), { recursive: true, force: true });
await mkdir(tarballs, { recursive: true });
for (const published of publishedPackages) {
  const { folder, bundle } = published;
  console.log(`compiling ${folder}`);
  await compile(folder);
  if (bundle) await bundlePackage(root, folder, bundle);
  const staged = join(root, 'build', published.folder);
  await stagePackage(root, published, staged);
  pack(staged);
}
// Makes build/packages/server/bin/svc.js executable in place, for tests: with the other built packages, and the dependencies of the checkout.
const scoped = join(root, 'build', 'packages', 'node_modules', scope);
await mkdir(scoped, { recursive: true });
for (const { folder } of publishedPackages) {
  await symlink(join(root, 'build', folder), join(scoped, basename(folder)), 'junction');
  const own = join(root, folder, 'node_modules');
  if (existsSync(own)) await symlink(own, join(root, 'build', folder, 'node_modules'), 'junction');
}
for (const name of await readdir(tarballs)) {
  const { size } = await stat(join(tarballs, name));
  console.log(`build/tarballs/${name}  ${Math.ceil(size / 1000)} kB`);
}
