// Folders below a root, walked part by part without following a symbolic link, so that whatever somebody else puts there
// in the meantime, nothing is written outside of the root.
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

  /** This one may be a symbolic link: whoever names it means where it leads. */
  static async open(path: string): Promise<Folder> {
    return new Folder(await open(path, asFolder), path);
  }

  /** Of something in it. On Linux by way of the open folder, which nobody can exchange; elsewhere by its name. */
  pathOf(name: string): string {
    return process.platform === 'linux' ? `/proc/self/fd/${this.#handle.fd}/${name}` : join(this.#path, name);
  }

  /** The folder in it. A symbolic link is refused (ENOTDIR or ELOOP), wherever it leads. */
  async child(name: string, { make }: { make: boolean }): Promise<Folder> {
    if (make) await this.#make(name);
    const handle = await open(this.pathOf(name), asFolder | constants.O_NOFOLLOW);
    return new Folder(handle, join(this.#path, name));
  }

  /** The folder below it. */
  async descend(parts: readonly string[], how: { make: boolean }): Promise<Folder> {
    let folder = new Folder(await open(this.pathOf('.'), asFolder), this.#path);
    for (const part of parts) {
      await using parent = folder;
      folder = await parent.child(part, how);
    }
    return folder;
  }

  /** What it holds is there after a crash. */
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
