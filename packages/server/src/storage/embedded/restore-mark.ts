// A file in the data folder while a backup is restored into it. It stays when the restore fails or is killed, and no server starts then.
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Problem } from '@svc/contract/problem';

const markIn = (dataDir: string): string => join(dataDir, 'restore-unfinished');

export const markRestore = async (dataDir: string): Promise<void> => {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await writeFile(markIn(dataDir), '', { mode: 0o600, flush: true });
};

export const unmarkRestore = (dataDir: string): Promise<void> => rm(markIn(dataDir), { force: true });

export const hasRestoreMark = (dataDir: string): Promise<boolean> =>
  stat(markIn(dataDir)).then(
    () => true,
    () => false,
  );

/** What is wrong, and how to correct it. */
export const restoreProblem = (dataDir: string) => ({
  what: `A restore into the data folder ${dataDir} has not finished.`,
  remedy: `Repeat it: svc restore <backup> --data-dir ${dataDir}. Or delete the folder. If svc restore says that the database is not empty, everything was restored: delete ${markIn(dataDir)}.`,
});

/** Throws `unavailable` when a restore into the folder has not finished. */
export const assertRestored = async (dataDir: string): Promise<void> => {
  if (!(await hasRestoreMark(dataDir))) return;
  const { what, remedy } = restoreProblem(dataDir);
  throw new Problem('unavailable', `${what} ${remedy}`);
};
