// Where files are made before they are uploaded: a folder of this process, in it one of each attempt. It is made when it is first
// needed, and then what killed processes have left is removed.
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
  readonly #host = hostname().replaceAll(/[^\w.-]/g, '_') || 'host';
  readonly #folder: string;
  #opened: Promise<void> | undefined;

  constructor(root: string) {
    this.#root = root;
    this.#folder = join(root, `${this.#host}.${process.pid}.${randomBytes(4).toString('hex')}`);
  }

  /** An empty folder. */
  async make(name: string): Promise<string> {
    await this.#open();
    const folder = join(this.#folder, name);
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return folder;
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.#folder, name), { recursive: true, force: true });
  }

  /** Tried again when it failed. */
  async #open(): Promise<void> {
    this.#opened ??= this.#create();
    try {
      await this.#opened;
    } catch (error) {
      this.#opened = undefined;
      throw error;
    }
  }

  async #create(): Promise<void> {
    await mkdir(this.#root, { recursive: true, mode: 0o700 });
    await removeLeftovers(this.#root, this.#host);
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
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
