// Opens folders below a root one path part at a time, without following symbolic links. Nothing is written outside of the root, even
// when another process replaces a folder by a link at the same time.
import { constants } from 'node:fs';
import { mkdir, open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

const asFolder = constants.O_RDONLY | constants.O_DIRECTORY;
const folderMode = 0o750;

export class Folder implements AsyncDisposable {
  readonly #handle: FileHandle;
  readonly #path: string;

  private constructor(handle: FileHandle, path: string) {
    this.#handle = handle;
    this.#path = path;
  }

  /** Follows symbolic links: the caller chose this path. */
  static async open(path: string): Promise<Folder> {
    return new Folder(await open(path, asFolder), path);
  }

  /** Path of an entry. On Linux it goes through the open file descriptor, so a replaced folder has no effect; elsewhere it is the plain path. */
  pathOf(name: string): string {
    return process.platform === 'linux' ? `/proc/self/fd/${this.#handle.fd}/${name}` : join(this.#path, name);
  }

  /** Opens a subfolder. Rejects a symbolic link with ENOTDIR or ELOOP. */
  async child(name: string, { make }: { make: boolean }): Promise<Folder> {
    if (make) await this.#make(name);
    const handle = await open(this.pathOf(name), asFolder | constants.O_NOFOLLOW);
    return new Folder(handle, join(this.#path, name));
  }

  /** Opens the folder at the end of the parts. */
  async descend(parts: readonly string[], how: { make: boolean }): Promise<Folder> {
    let folder = new Folder(await open(this.pathOf('.'), asFolder), this.#path);
    for (const part of parts) {
      await using parent = folder;
      folder = await parent.child(part, how);
    }
    return folder;
  }

  /** Makes new and renamed entries durable. */
  async sync(): Promise<void> {
    await this.#handle.sync();
  }

  async #make(name: string): Promise<void> {
    try {
      await mkdir(this.pathOf(name), { mode: folderMode });
      await this.sync();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }
}
