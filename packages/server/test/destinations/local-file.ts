// Files that are ready to be uploaded, as the writer of an export leaves them.
import { createHash, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LocalFile } from '../../src/exports/destinations/file-store.ts';

/** A file of random bytes, so that no two parts are equal. */
export const localFile = async (folder: string, bytes: number): Promise<LocalFile & { content: Buffer }> => {
  const content = randomBytes(bytes);
  const path = join(folder, `file-${randomBytes(4).toString('hex')}`);
  await writeFile(path, content);
  return { path, bytes, sha256: createHash('sha256').update(content).digest('hex'), content };
};
