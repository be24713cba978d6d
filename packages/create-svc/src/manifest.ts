// package.json of a new project.

export interface Manifest {
  name: string;
  version: string;
  private: boolean;
  type: string;
  scripts: Record<string, string>;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  [field: string]: unknown;
}

/** Versions of the packages that every project needs. */
export interface Versions {
  /** Of this program; the server and the SDK are released together with it. */
  svc: string;
  /** Folder with the tarballs of `npm run build`, for packages that are on no registry. */
  tarballs?: string | undefined;
}

const svcPackages = {
  conformance: '@svc/conformance',
  contract: '@svc/contract',
  sdk: '@svc/sdk',
  server: '@svc/server',
};

/** `@svc/sdk` at 0.1.0 is packed as `svc-sdk-0.1.0.tgz`. */
const versionOf = (name: string, { svc, tarballs }: Versions): string =>
  tarballs === undefined ? svc : `file:${tarballs}/${name.replace('@', '').replace('/', '-')}-${svc}.tgz`;

/** Tarballs depend on each other by version; these fields point every package manager to the files. */
const overrides = (versions: Versions): Record<string, unknown> => {
  if (versions.tarballs === undefined) return {};
  const files = Object.fromEntries(
    Object.values(svcPackages).map((name) => [name, versionOf(name, versions)]),
  );
  return { overrides: files, pnpm: { overrides: files }, resolutions: files };
};

const typeChecking = { '@types/node': '20.19.43', typescript: '7.0.2' };

/** The template's manifest, made the manifest of a project with the server as a dependency. */
export const projectManifest = (
  name: string,
  template: Partial<Manifest>,
  { isPython = false, ...versions }: Versions & { isPython?: boolean },
): Manifest => {
  const { [svcPackages.server]: _, ...devDependencies } = template.devDependencies ?? {};
  const dependencies = {
    ...template.dependencies,
    [svcPackages.server]: versionOf(svcPackages.server, versions),
  };
  if (dependencies[svcPackages.sdk] !== undefined)
    dependencies[svcPackages.sdk] = versionOf(svcPackages.sdk, versions);
  const sorted = (record: Record<string, string>) =>
    Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    scripts: {
      dev: 'svc dev',
      start: 'svc start',
      ...(isPython ? {} : { types: 'tsc --noEmit' }),
      ...template.scripts,
    },
    dependencies: sorted(dependencies),
    devDependencies: sorted({ ...devDependencies, ...(isPython ? {} : typeChecking) }),
    engines: { node: '>=20.19' },
    ...overrides(versions),
  };
};
