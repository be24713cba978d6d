// Reads a backup from a folder.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { BackupSource } from './backup-source.ts';

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
