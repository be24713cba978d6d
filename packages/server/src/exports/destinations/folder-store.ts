// Stores files in a folder of the server. A file is written under a temporary name in its folder, synced, and then renamed.
import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import {
  type FileHandle,
  link,
  mkdir,
  open,
  readdir,
  realpath,
  rename,
  stat,
  unlink,
} from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { checkFree, checkQuota, type FolderRules, noRules } from './disk-space.ts';
import { DestinationError, StoreConflict } from '../../s3/destination-error.ts';
import {
  type LocalFile,
  partsOfKey,
  pathPartFault,
  type ProbedStore,
  type PutOptions,
  type StoredFile,
} from './file-store.ts';

const chunkBytes = 1_024 ** 2;
/** Bytes written between two checks of the free space. */
const checkedBytes = 8 * chunkBytes;
const fileMode = 0o640;
const newFile = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
/** O_NONBLOCK: opening a named pipe must not block. */
const oldFile = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** Temporary names begin with a dot and end with this; names of finished files do neither. */
const draftEnd = '.svc-part';

/** Returns the root that contains the path, and the parts of the path below it; undefined when no root contains it. */
export const findFolder = (
  path: string,
  roots: readonly string[],
): { root: string; parts: string[] } | undefined => {
  const isPlain = path.split('/').every((part) => part === '' || pathPartFault(part) === undefined);
  if (!isPlain) return undefined;
  for (const root of isAbsolute(path) ? roots : roots.slice(0, 1)) {
    const between = relative(root, resolve(root, path));
    if (between === '..' || between.startsWith(`..${sep}`) || isAbsolute(between)) continue;
    return { root, parts: between === '' ? [] : between.split(sep) };
  }
  return undefined;
};

export class FolderStore implements ProbedStore {
  readonly root: string;
  readonly assumeRole = undefined;
  readonly #base: string;
  readonly #rules: FolderRules;
  readonly #parts: readonly string[];

  /** Throws a DestinationError when no root contains the path. */
  constructor(path: string, roots: readonly string[], rules: FolderRules = noRules) {
    const found = findFolder(path, roots);
    if (found === undefined)
      throw new DestinationError('The path is not below one of SVC_EXPORT_FILE_ROOTS.', {
        code: 'InvalidPath',
        isFinal: true,
      });
    this.#base = found.root;
    this.#rules = rules;
    this.#parts = found.parts;
    this.root = join(found.root, ...found.parts);
  }

  async findAddress(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await translated(async () => {
      await using folder = await this.#open([], { make: true });
      await folder.sync();
    });
  }

  async put(key: string, file: LocalFile, { ifAbsent, signal }: PutOptions): Promise<void> {
    await using source = await open(file.path);
    const fill: Fill = (draft, checkFree) => copy(source, draft, file.bytes, signal, checkFree);
    await this.#write(key, file.bytes, fill, { ifAbsent, signal });
  }

  async putText(key: string, text: string, _contentType: string, signal: AbortSignal): Promise<void> {
    await this.#writeText(key, text, { ifAbsent: false, signal });
  }

  async createText(key: string, text: string, _contentType: string, signal: AbortSignal): Promise<void> {
    await this.#writeText(key, text, { ifAbsent: true, signal });
  }

  /** Reads the whole file to compute its hash. */
  async head(key: string, signal: AbortSignal): Promise<StoredFile | undefined> {
    return this.#ifThere(key, async (folder, name) => {
      await using handle = await open(folder.pathOf(name), oldFile);
      if (!(await handle.stat()).isFile())
        throw new DestinationError('The path of the file exists and is not a regular file.', {
          code: 'EISDIR',
          isFinal: true,
        });
      return await digest(handle, signal);
    });
  }

  async remove(key: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await this.#ifThere(key, async (folder, name) => {
      await unlink(folder.pathOf(name));
      await folder.sync();
    });
  }

  async removeUnfinished(key: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await this.#ifThere(key, async (folder, name) => {
      for (const entry of await readdir(folder.pathOf('.')))
        if (entry.startsWith(`.${name}.`) && entry.endsWith(draftEnd))
          await unlinkIfThere(folder.pathOf(entry));
    });
  }

  #writeText(key: string, text: string, options: PutOptions): Promise<void> {
    return this.#write(key, Buffer.byteLength(text), (draft) => draft.writeFile(text), options);
  }

  async #write(key: string, bytes: number, fill: Fill, { ifAbsent, signal }: PutOptions): Promise<void> {
    const parts = partsOfKey(key);
    const name = parts.pop() ?? '';
    signal.throwIfAborted();
    await translated(async () => {
      await using folder = await this.#open(parts, { make: true });
      const { freeBytes, quotaBytes } = this.#rules;
      const hasRoom = (left: number): Promise<void> =>
        checkFree(folder.pathOf('.'), left, freeBytes, 'The disk of the folder');
      await hasRoom(bytes);
      await checkQuota(this.#base, bytes, quotaBytes);
      const draft = folder.pathOf(`.${name}.${randomBytes(6).toString('hex')}${draftEnd}`);
      try {
        await using handle = await open(draft, newFile, fileMode);
        await fill(handle, hasRoom);
        await handle.sync();
        // Other writers may have used up the quota meanwhile.
        await checkQuota(this.#base, 0, quotaBytes);
        signal.throwIfAborted();
        await (ifAbsent ? moveIfAbsent(draft, folder.pathOf(name)) : rename(draft, folder.pathOf(name)));
        await folder.sync();
      } finally {
        await unlinkIfThere(draft);
      }
    });
  }

  async #ifThere<T>(key: string, work: (folder: Folder, name: string) => Promise<T>): Promise<T | undefined> {
    const parts = partsOfKey(key);
    const name = parts.pop() ?? '';
    return translated(async () => {
      try {
        await using folder = await this.#open(parts, { make: false });
        return await work(folder, name);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
    });
  }

  /** The operator chooses the root, so it may be a symbolic link. Links below it are not followed. */
  async #open(parts: readonly string[], how: { make: boolean }): Promise<Folder> {
    if (how.make) await mkdir(this.#base, { recursive: true, mode: 0o750 });
    await using root = await Folder.open(await realpath(this.#base));
    return await root.descend([...this.#parts, ...parts], how);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // No handle stays open between calls.
  }
}

/** Writes the content to the draft. `checkFree` throws when the disk lacks space for the `left` bytes. */
type Fill = (draft: FileHandle, checkFree: (left: number) => Promise<void>) => Promise<void>;

const translated = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw folderError(error);
  }
};

/** Calls `check` with the number of remaining bytes after every `checkedBytes`. */
const copy = async (
  from: FileHandle,
  to: FileHandle,
  bytes: number,
  signal: AbortSignal,
  check: (left: number) => Promise<void>,
): Promise<void> => {
  const chunk = Buffer.allocUnsafe(chunkBytes);
  let copied = 0;
  for (;;) {
    signal.throwIfAborted();
    const { bytesRead } = await from.read(chunk, 0, chunkBytes, copied);
    if (bytesRead === 0) break;
    await to.writeFile(chunk.subarray(0, bytesRead));
    copied += bytesRead;
    if (copied % checkedBytes < bytesRead) await check(bytes - copied);
  }
  if (copied !== bytes) throw new Error(`The local file has ${copied} bytes instead of ${bytes}`);
};

const digest = async (handle: FileHandle, signal: AbortSignal): Promise<StoredFile> => {
  const chunk = Buffer.allocUnsafe(chunkBytes);
  const hash = createHash('sha256');
  let bytes = 0;
  for (;;) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(chunk, 0, chunkBytes, bytes);
    if (bytesRead === 0) return { bytes, sha256: hash.digest('hex') };
    hash.update(chunk.subarray(0, bytesRead));
    bytes += bytesRead;
  }
};

/**
 * Moves the draft to the path; throws StoreConflict when the path exists. Atomic on file systems with hard links; on others a file that
 * is created between check and rename is replaced.
 */
const moveIfAbsent = async (draft: string, path: string): Promise<void> => {
  try {
    await link(draft, path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw new StoreConflict('A file with this name already exists', { cause: error });
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'EOPNOTSUPP' && code !== 'EMLINK') throw error;
    if (await exists(path)) throw new StoreConflict('A file with this name already exists', { cause: error });
    await rename(draft, path);
  }
};

const exists = async (path: string): Promise<boolean> => {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
};

const unlinkIfThere = async (path: string): Promise<void> => {
  try {
    await unlink(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
};

// Converts errors of the file system to errors of a destination.

/** Errors for which a retry does not help, with a remedy. */
const finalReasons = new Map([
  [
    'EACCES',
    'The server has no permission to write to the folder. Grant it to the user that runs the server.',
  ],
  [
    'EPERM',
    'The server has no permission to write to the folder. Grant it to the user that runs the server.',
  ],
  ['EROFS', 'The file system is read-only. Mount it for writing.'],
  ['ENOTDIR', 'A part of the path is not a folder, or is a symbolic link; those are not followed.'],
  ['ELOOP', 'A part of the path is a symbolic link; those are not followed.'],
  ['EISDIR', 'The path of the file is a folder.'],
  ['ENAMETOOLONG', 'The path is longer than the file system allows. Choose a shorter one.'],
  ['ENOENT', 'The folder does not exist. See SVC_EXPORT_FILE_ROOTS.'],
]);

/** Errors for which a retry may help. */
const temporaryReasons = new Map([
  ['ENOSPC', 'The disk is full. Free some space.'],
  ['EDQUOT', 'The disk quota is exceeded. Free some space.'],
  ['EFBIG', 'The file system does not support files of this size.'],
  ['EMFILE', 'The server has too many files open.'],
  ['ENFILE', 'The machine has too many files open.'],
  ['EIO', 'The disk reported an error.'],
]);

/** Returns errors other than system errors unchanged. */
export const folderError = (error: unknown): unknown => {
  const { code } = error as NodeJS.ErrnoException;
  if (error instanceof DestinationError || !(error instanceof Error) || typeof code !== 'string')
    return error;
  if (!/^E[A-Z]+$/.test(code)) return error;
  const reason =
    finalReasons.get(code) ?? temporaryReasons.get(code) ?? 'The file system reported an unexpected error.';
  return new DestinationError(reason, { code, isFinal: finalReasons.has(code), cause: error });
};

// Opens folders below a root one path part at a time, without following symbolic links. Nothing is written outside of the root, even
// when another process replaces a folder by a link at the same time.

const asFolder = constants.O_RDONLY | constants.O_DIRECTORY;
const folderMode = 0o750;

class Folder implements AsyncDisposable {
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
