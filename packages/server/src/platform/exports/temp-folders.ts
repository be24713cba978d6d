// Where files are made before they are uploaded: a folder of this process, in it one of each attempt. What a process left that was
// killed goes when the next one starts.
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isRunning } from '../../storage/embedded/process-identity.ts';

/** The pids of another machine, or of another container, say nothing here: what they left goes by its age. */
const leftoverMs = 2 * 24 * 60 * 60 * 1_000;
const nameShape = /^(?<host>[\w.-]+)\.(?<pid>\d+)\.[0-9a-f]{8}$/;

export class TempFolders implements AsyncDisposable {
  readonly #root: string;
  readonly #folder: string;

  private constructor(root: string, folder: string) {
    this.#root = root;
    this.#folder = folder;
  }

  static async open(root: string): Promise<TempFolders> {
    await mkdir(root, { recursive: true, mode: 0o700 });
    const host = hostname().replaceAll(/[^\w.-]/g, '_') || 'host';
    const folder = join(root, `${host}.${process.pid}.${randomBytes(4).toString('hex')}`);
    await removeLeftovers(root, host);
    await mkdir(folder, { mode: 0o700 });
    return new TempFolders(root, folder);
  }

  /** An empty folder. */
  async make(name: string): Promise<string> {
    const folder = join(this.#folder, name);
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return folder;
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.#folder, name), { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 3 });
  }

  get root(): string {
    return this.#root;
  }
}

const removeLeftovers = async (root: string, here: string): Promise<void> => {
  for (const name of await readdir(root)) {
    const { host, pid } = nameShape.exec(name)?.groups ?? {};
    if (host === undefined) continue;
    const path = join(root, name);
    const isLeft = host === here ? Number(pid) !== process.pid && !isRunning(Number(pid)) : await isOld(path);
    if (isLeft) await rm(path, { recursive: true, force: true });
  }
};

const isOld = async (path: string): Promise<boolean> => {
  const found = await stat(path).catch(() => undefined); // another process was faster
  return found !== undefined && Date.now() - found.mtimeMs > leftoverMs;
};
