// Backups in folders. A folder gets its name when everything is on the disk.
import { randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { flushFolder } from '../flush-folder.ts';
import { BackupError, type BackupSource, type BackupTarget } from './places.ts';
import { manifestName } from './manifest.ts';

export class FolderTarget implements BackupTarget {
  readonly place: string;
  readonly #unfinished: string;

  /** The folder must not exist, or must be empty. */
  constructor(folder: string) {
    this.place = folder;
    this.#unfinished = join(
      dirname(folder),
      `${basename(folder)}.unfinished-${randomBytes(4).toString('hex')}`,
    );
  }

  async open(): Promise<void> {
    await assertFree(this.place);
    await mkdir(this.#unfinished, { recursive: true, mode: 0o700 });
  }

  async write(file: string, content: Readable): Promise<void> {
    const target = createWriteStream(join(this.#unfinished, file), { mode: 0o600, flags: 'wx', flush: true });
    await pipeline(content, target);
  }

  async finish(manifest: string): Promise<void> {
    await writeFile(join(this.#unfinished, manifestName), manifest, { mode: 0o600, flush: true });
    await flushFolder(this.#unfinished);
    await rename(this.#unfinished, this.place);
    await flushFolder(dirname(this.place));
  }

  async discard(): Promise<void> {
    await rm(this.#unfinished, { recursive: true, force: true });
  }
}

const assertFree = async (folder: string): Promise<void> => {
  const found = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  if (found.length > 0) throw new BackupError(`${folder} is not empty. Name a new folder for the backup`);
};

export class FolderSource implements BackupSource {
  readonly place: string;
  readonly isRemote = false;

  constructor(folder: string) {
    this.place = folder;
  }

  async sizeOf(file: string): Promise<number> {
    return (await stat(join(this.place, file))).size;
  }

  read(file: string): AsyncIterable<Buffer> {
    return createReadStream(join(this.place, file));
  }
}
