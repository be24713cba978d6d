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

export const lockFiles = ['package-lock.json', 'npm-shrinkwrap.json', 'pnpm-lock.yaml', 'yarn.lock'] as const;

/** The package manager that wrote a lock file. `field` is `packageManager` of package.json. */
export function packageManagerOf(
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
