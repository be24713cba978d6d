// How an image installs the packages of a project with a package.json: by its lock file.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packageFile } from '../../config/package-files.ts';
import { configError } from '../../config/project/mistake.ts';
import type { SvcJson } from '../../config/project/svc-json.ts';
import { inImage, isInside, linkedFolders, tarballsIn } from './local-packages.ts';

/** Throws a `ConfigError` without a lock file, or when the server is not among the dependencies. */
export function findNodePackages({ dir, raw }: SvcJson) {
  const { root, lockFile } = findLock(dir);
  const manifest = readManifest(root);
  const lockText = readFileSync(join(root, lockFile), 'utf8');
  const links = [root, dir].flatMap((at) => linkedFolders(readManifest(at), at));
  const outside = links.filter((link) => !isInside(root, link));
  if (outside.length > 0)
    throw configError(
      join(root, 'package.json'),
      `depends on folders that an image build does not see: ${outside.join(', ')}`,
      'Move them into the project, or depend on a tarball of them (npm pack).',
    );
  return {
    /** The folder of the lock file, absolute. */
    root,
    manager: packageManagerOf(lockFile, { text: lockText, field: manifest['packageManager'] }),
    tarballs: tarballsIn([JSON.stringify(manifest), lockText], root),
    /** The lock file also describes packages in folders of the project. */
    hasLinks: links.length > 0 || hasWorkspaces(root),
    /** In `root`. */
    svcProgram: inImage(root, findProgram(root, dir)),
    nodeVersion: String(raw.node_version ?? 24),
  };
}

export type NodePackages = ReturnType<typeof findNodePackages>;

/** Whether a package.json of the folder, or of one above, names the server. */
export function dependsOnServer(dir: string): boolean {
  if (Object.hasOwn(dependenciesOf(dir), serverName())) return true;
  return dirname(dir) !== dir && dependsOnServer(dirname(dir));
}

const serverName = (): string =>
  (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { name: string }).name;

/** The folder of the nearest package.json with its lock file; else a folder above that describes workspaces, which share a lock file. */
function findLock(dir: string): { root: string; lockFile: (typeof lockFiles)[number] } {
  let isNearest = true;
  for (let root = dir; ; root = dirname(root)) {
    const lockFile = lockFiles.find((name) => existsSync(join(root, name)));
    if (lockFile !== undefined && (isNearest || hasWorkspaces(root))) return { root, lockFile };
    if (existsSync(join(root, 'package.json'))) isNearest = false;
    if (dirname(root) === root)
      throw configError(
        dir,
        `there is no lock file (${lockFiles.join(', ')}) here or in the root of its workspaces`,
        'An image installs the versions of a lock file: run npm install, pnpm install or yarn install.',
      );
  }
}

const hasWorkspaces = (folder: string): boolean =>
  existsSync(join(folder, 'pnpm-workspace.yaml')) || readManifest(folder)['workspaces'] !== undefined;

/** The program of the server: where it is installed, else where a package manager would install it. */
function findProgram(root: string, dir: string): string {
  const name = serverName();
  const program = join('node_modules', name, 'bin', 'svc.js');
  for (let at = dir; isInside(root, at); at = dirname(at))
    if (existsSync(join(at, program))) return join(at, program);
  const owner = [dir, root].find((at) => Object.hasOwn(dependenciesOf(at), name));
  if (owner !== undefined) return join(owner, program);
  throw configError(
    join(dir, 'package.json'),
    `does not depend on ${name}, so the image would have no server`,
    `Add it to "dependencies": npm install ${name}`,
  );
}

const dependenciesOf = (folder: string): object => ({
  ...(readManifest(folder)['dependencies'] as object | undefined),
});

function readManifest(folder: string): Record<string, unknown> {
  const file = join(folder, 'package.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>) : {};
}

// What package managers need in an image: which files, and which command installs the packages of a lock file.

export interface PackageManager {
  readonly name: 'npm' | 'pnpm' | 'yarn';
  readonly lockFile: string;
  /** Files in the folder of the lock file that change what is installed, as far as they exist. */
  readonly files: readonly string[];
  /** Commands of the image that install the packages. */
  readonly install: readonly string[];
  /** Prints the installed packages as CycloneDX; undefined when the package manager has no such command. */
  readonly sbom?: string;
}

/** A build secret instead of a file of the image: credentials of registries do not stay in its layers. */
const withNpmrc = '--mount=type=secret,id=npmrc,target=/root/.npmrc';

const npm = (lockFile: string): PackageManager => ({
  name: 'npm',
  lockFile,
  files: ['package.json', lockFile],
  install: [`RUN ${withNpmrc} npm ci --omit=dev --no-audit --no-fund`],
  // npm 11 reports absent devDependencies as errors, also with --omit=dev. COPY restores the file.
  sbom: 'npm pkg delete devDependencies && npm sbom --sbom-format=cyclonedx',
});

const pnpm = (version: string): PackageManager => ({
  name: 'pnpm',
  lockFile: 'pnpm-lock.yaml',
  files: ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', '.pnpmfile.cjs'],
  install: [
    `RUN ${withNpmrc} npm install --global pnpm@${version}`,
    `RUN ${withNpmrc} pnpm install --frozen-lockfile --prod`,
  ],
});

const classicYarn = (): PackageManager => ({
  name: 'yarn',
  lockFile: 'yarn.lock',
  files: ['package.json', 'yarn.lock', '.yarnrc'],
  install: [
    `RUN ${withNpmrc} npm install --global --force yarn@1.22.22`,
    `RUN ${withNpmrc} yarn install --frozen-lockfile --production`,
  ],
});

const yarn = (version: string): PackageManager => ({
  name: 'yarn',
  lockFile: 'yarn.lock',
  files: ['package.json', 'yarn.lock', '.yarnrc.yml', '.yarn'],
  install: [
    // The base image has yarn 1 under the same name.
    `RUN ${withNpmrc} npm install --global --force @yarnpkg/cli-dist@${version}`,
    // Plug'n'Play has no node_modules, which the server reads.
    'ENV YARN_NODE_LINKER=node-modules',
    'RUN yarn install --immutable',
  ],
});

/** The version of `packageManager` in package.json, such as `pnpm@10.5.2+sha512…`; else the given one. */
const versionIn = (field: unknown, name: string, standard: string): string =>
  (typeof field === 'string' ? new RegExp(`^${name}@([\\w.-]+)`).exec(field)?.[1] : undefined) ?? standard;

const lockFiles = ['package-lock.json', 'npm-shrinkwrap.json', 'pnpm-lock.yaml', 'yarn.lock'] as const;

/** The package manager that wrote a lock file. `field` is `packageManager` of package.json. */
function packageManagerOf(
  lockFile: (typeof lockFiles)[number],
  { text, field }: { text: string; field: unknown },
): PackageManager {
  switch (lockFile) {
    case 'package-lock.json':
    case 'npm-shrinkwrap.json':
      return npm(lockFile);
    case 'pnpm-lock.yaml':
      return pnpm(versionIn(field, 'pnpm', '10'));
    case 'yarn.lock':
      return text.includes('# yarn lockfile v1') ? classicYarn() : yarn(versionIn(field, 'yarn', '4'));
  }
}
