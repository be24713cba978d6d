// Temporary folders in which files are written before their upload: one folder for this process, with a subfolder for each attempt. The
// first use creates it, and removes the folders of processes that no longer run.
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isRunning } from '../../config/process-identity.ts';

/** Pids of other machines and containers cannot be checked here. Their folders are removed after this time. */
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

  /** Creates an empty folder and returns its path. */
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

  /** After a failure, the next call tries again. */
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

const removeLeftovers = async (root: string, ownHost: string): Promise<void> => {
  for (const name of await readdir(root)) {
    const { host, pid } = nameShape.exec(name)?.groups ?? {};
    if (host === undefined) continue;
    const path = join(root, name);
    const isLeft =
      host === ownHost ? Number(pid) !== process.pid && !isRunning(Number(pid)) : await isOld(path);
    if (isLeft) await rm(path, { recursive: true, force: true });
  }
};

const isOld = async (path: string): Promise<boolean> => {
  const found = await stat(path).catch(() => undefined); // another process has removed it
  return found !== undefined && Date.now() - found.mtimeMs > leftoverMs;
};
