// Free space of the file system of the data folder.
import { spaceOf } from '../../storage/embedded/data-folder.ts';
import { bytes } from '../output/quantities.ts';
import { ok, type Outcome, problem, skipped, warning } from './finding.ts';

const warningBytes = 1_000_000_000;
/** PostgreSQL writes log segments of 16 MB. */
const problemBytes = 64_000_000;

export const checkDiskSpace = async (folder: string): Promise<Outcome> => {
  const space = await spaceOf(folder);
  if (space === undefined) return skipped(`The free space of ${folder} cannot be determined.`);
  const message = `${bytes(space.free)} of ${bytes(space.size)} are free on the disk of ${folder}.`;
  const remedy = 'Free some space, or choose a folder on another disk with --data-dir.';
  if (space.free < problemBytes) return problem(message, remedy);
  return space.free < warningBytes ? warning(message, remedy) : ok(message);
};
