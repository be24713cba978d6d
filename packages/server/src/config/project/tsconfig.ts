import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The tsconfig.json of a project: that of its folder, or of the nearest folder above. The working directory has no effect. */
export function findTsconfig(dir: string): string | undefined {
  const file = join(dir, 'tsconfig.json');
  if (statSync(file, { throwIfNoEntry: false })?.isFile() === true) return file;
  const parent = dirname(dir);
  return parent === dir ? undefined : findTsconfig(parent);
}
