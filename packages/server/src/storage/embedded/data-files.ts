// Looks for damaged files of a PostgreSQL that does not run, without reading the rows. A file that was cut at the end of a block is only
// found when it has later segments.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

const blockBytes = 8_192;
const segmentBytes = 1_073_741_824;
const controlBytes = 8_192;
/** Reported faults; more of them say nothing new. */
const faultsMax = 20;

/** `12345`, `12345_vm`, `12345.1`: https://www.postgresql.org/docs/18/storage-file-layout.html */
const relationFile = /^(\d+(?:_(?:fsm|vm|init))?)(?:\.(\d+))?$/;

/** One sentence for each damaged or missing file, at most 20. */
export const findDamage = async (data: string): Promise<string[]> => {
  const faults: string[] = [];
  const control = join(data, 'global', 'pg_control');
  const bytes = await sizeOf(control);
  if (bytes === undefined) faults.push(`${control} is missing.`);
  else if (bytes !== controlBytes) faults.push(`${control} has ${bytes} bytes instead of ${controlBytes}.`);
  const databases = await readdir(join(data, 'base')).catch(() => []);
  if (databases.length === 0) faults.push(`${join(data, 'base')} contains no database.`);
  for (const folder of [join(data, 'global'), ...databases.map((name) => join(data, 'base', name))]) {
    const names = new Set(await readdir(folder).catch(() => []));
    if (!names.has('pg_filenode.map')) faults.push(`${join(folder, 'pg_filenode.map')} is missing.`);
    for (const name of names) {
      if (faults.length >= faultsMax) return faults;
      const fault = await relationFault(folder, name, names);
      if (fault !== undefined) faults.push(`${join(folder, name)} ${fault}`);
    }
  }
  return faults;
};

const relationFault = async (
  folder: string,
  name: string,
  names: ReadonlySet<string>,
): Promise<string | undefined> => {
  const [, relation, segment = '0'] = relationFile.exec(name) ?? [];
  if (relation === undefined) return undefined;
  const bytes = await sizeOf(join(folder, name));
  if (bytes === undefined) return undefined;
  if (bytes % blockBytes !== 0) return `is cut: its ${bytes} bytes are not a multiple of ${blockBytes}.`;
  const next = `${relation}.${Number(segment) + 1}`;
  if (bytes < segmentBytes && names.has(next) && ((await sizeOf(join(folder, next))) ?? 0) > 0)
    return `is cut: it has ${bytes} bytes, and ${next} continues it.`;
  return undefined;
};

const sizeOf = (file: string): Promise<number | undefined> =>
  stat(file).then(
    ({ size }) => size,
    () => undefined,
  );
