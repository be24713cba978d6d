// Where the server of a data folder is, for commands on the same machine: it may have been started on another port than the
// configuration says, and what listens on that one is not to be shown the server's key. One that was killed leaves its file; then
// nothing answers there until the next server of the folder writes its own.
import { readFileSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const fileIn = (dataDir: string): string => join(dataDir, 'server-url');

/** How this machine reaches a server that listens on all of its addresses. */
const fromHere = (url: string): string =>
  url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');

/** Holds until it is disposed. Throws when the folder cannot be written to. */
export const announce = async (dataDir: string, listensOn: string): Promise<AsyncDisposable> => {
  const file = fileIn(dataDir);
  const line = `${fromHere(listensOn)}\n`;
  await mkdir(dataDir, { recursive: true });
  await writeFile(file, line, { mode: 0o600 });
  return {
    async [Symbol.asyncDispose]() {
      // Another server of the same folder may have come since.
      if ((await readFile(file, 'utf8').catch(() => '')) === line) await rm(file, { force: true });
    },
  };
};

/** Undefined where none was announced. */
export const announcedIn = (dataDir: string): string | undefined => {
  try {
    return readFileSync(fileIn(dataDir), 'utf8').trim() || undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};
