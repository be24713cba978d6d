// A file with the address of the server of a data folder, for commands on the same machine. The server may listen on another port than
// the configured one, and a process that listens on the configured port must not get the server's key. A server that was killed leaves
// its file; then nothing answers at that address until the next server of the folder writes its own.
import { readFileSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const fileIn = (dataDir: string): string => join(dataDir, 'server-url');

/** The address at which this machine reaches a server that listens on all addresses. */
const fromHere = (url: string): string =>
  url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');

/** Writes the file, and removes it when disposed. Throws when the folder is not writable. */
export const announce = async (dataDir: string, listensOn: string): Promise<AsyncDisposable> => {
  const file = fileIn(dataDir);
  const line = `${fromHere(listensOn)}\n`;
  await mkdir(dataDir, { recursive: true });
  await writeFile(file, line, { mode: 0o600 });
  return {
    async [Symbol.asyncDispose]() {
      // Another server of the same folder may have replaced the file.
      if ((await readFile(file, 'utf8').catch(() => '')) === line) await rm(file, { force: true });
    },
  };
};

/** The address in the file; undefined when there is no file. */
export const announcedIn = (dataDir: string): string | undefined => {
  try {
    return readFileSync(fileIn(dataDir), 'utf8').trim() || undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};
