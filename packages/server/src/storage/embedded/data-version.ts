// The major version of PostgreSQL that wrote the data. Another one cannot read it.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Problem } from '@svc/contract/problem';

/** Undefined when the folder has no data. */
export const readDataVersion = async (data: string): Promise<number | undefined> => {
  const version = Number.parseInt(await readFile(join(data, 'PG_VERSION'), 'utf8').catch(() => ''), 10);
  return version > 0 ? version : undefined;
};

export interface Versions {
  data: number;
  installed: number;
}

/** What is wrong, and how to correct it. */
export const versionProblem = (folder: string, { data, installed }: Versions) => ({
  what: `${folder} contains data of PostgreSQL ${data}, and the installed PostgreSQL is ${installed}: it cannot read the data.`,
  remedy:
    'Install the release of svc that wrote the data and make a backup with it (svc backup), then restore the backup with this release into another folder (svc restore --data-dir). Or choose another folder with --data-dir.',
});

/** Throws `unavailable` when the folder has data of another major version. */
export const assertDataVersion = async (data: string, installed: number): Promise<void> => {
  const version = await readDataVersion(data);
  if (version === undefined || version === installed) return;
  const { what, remedy } = versionProblem(data, { data: version, installed });
  throw new Problem('unavailable', `${what} ${remedy}`);
};
