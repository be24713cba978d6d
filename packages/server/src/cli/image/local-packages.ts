// Packages that a project installs from files instead of a registry. An image build sees only the files of its context.
import { existsSync } from 'node:fs';
import { basename, isAbsolute, relative, resolve, sep } from 'node:path';

/** A tarball that package.json or the lock file names. */
export interface LocalTarball {
  /** Absolute. */
  readonly file: string;
  /** All ways in which the two files write it: `file:../build/svc-server-0.1.0.tgz`. */
  readonly specs: ReadonlySet<string>;
  /** Where it is in the context, relative and with `/`. */
  readonly target: string;
}

/** Where tarballs from outside of the project are in the context. */
const folder = 'tarballs';

export const isInside = (root: string, path: string): boolean => {
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
};

/** Paths in an image are written with `/`. */
export const inImage = (root: string, path: string): string => relative(root, path).split(sep).join('/');

/** The tarballs that these texts name; paths are relative to `root`. */
export function tarballsIn(texts: readonly string[], root: string): LocalTarball[] {
  const specsOf = new Map<string, Set<string>>();
  for (const [spec, path = ''] of texts.join('\n').matchAll(/file:([^"'\n(),#?]+?\.t(?:ar\.)?gz)/g)) {
    // A lock file may encode spaces.
    const file = [path, decodeURI(path)].map((one) => resolve(root, one)).find((one) => existsSync(one));
    if (file !== undefined) specsOf.set(file, (specsOf.get(file) ?? new Set()).add(spec));
  }
  return [...specsOf].map(([file, specs]) => ({
    file,
    specs,
    target: isInside(root, file) ? inImage(root, file) : `${folder}/${basename(file)}`,
  }));
}

/** Replaces the paths of tarballs by those in the context. yarn also writes a path as the fragment of a resolution: `#../a.tgz`. */
export function withTargets(text: string, tarballs: readonly LocalTarball[]): string {
  const paths = tarballs
    .flatMap(({ specs, target }) => [...specs].map((spec) => ({ path: spec.replace('file:', ''), target })))
    .toSorted((a, b) => b.path.length - a.path.length);
  return paths.reduce(
    (changed, { path, target }) =>
      changed.replaceAll(`file:${path}`, `file:${target}`).replaceAll(`#${path}`, `#${target}`),
    text,
  );
}

const fields = ['dependencies', 'devDependencies', 'optionalDependencies', 'overrides', 'resolutions'];

/** Folders that a package.json names as dependencies, absolute. */
export function linkedFolders(manifest: Readonly<Record<string, unknown>>, dir: string): string[] {
  const specs = fields.flatMap((field) => Object.values({ ...(manifest[field] as object | undefined) }));
  return specs.flatMap((spec: unknown) => {
    const path = typeof spec === 'string' ? /^(?:file|link|portal):(.*)$/.exec(spec)?.[1] : undefined;
    return path === undefined || /\.t(?:ar\.)?gz$/.test(path) ? [] : [resolve(dir, path)];
  });
}
