// A lock that the kernel holds as long as any process of the PostgreSQL server runs, in any container: flock(2) on a file descriptor
// that the server inherits. Node has no flock(2), so flock(1) is run on the descriptor.
import { spawn } from 'node:child_process';
import { open, statfs, type FileHandle } from 'node:fs/promises';

/** `taken`: by us. `held`: by another process. `unknown`: there is no flock(1), or the file system does not support such locks. */
export type LockState = 'taken' | 'held' | 'unknown';

export interface KernelLock extends AsyncDisposable {
  state: LockState;
  /** A process that inherits the descriptor keeps the lock; disposing closes only our own descriptor. */
  fd: number;
}

/** Tries once to take the lock, without waiting. */
export const openKernelLock = async (file: string): Promise<KernelLock> => {
  const handle = await open(file, 'a', 0o600);
  try {
    return { state: await lock(handle), fd: handle.fd, [Symbol.asyncDispose]: () => handle.close() };
  } catch (error) {
    await handle.close();
    throw error;
  }
};

const lock = (handle: FileHandle): Promise<LockState> =>
  new Promise((resolve) => {
    const child = spawn('flock', ['-n', '3'], { stdio: ['ignore', 'ignore', 'ignore', handle.fd] });
    child.once('error', () => resolve('unknown'));
    child.once('exit', (code) => resolve(code === 0 ? 'taken' : code === 1 ? 'held' : 'unknown'));
  });

/** Types of local file systems: ext, xfs, btrfs, tmpfs, overlayfs, zfs, f2fs. Other machines cannot write to them. */
const localTypes = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1, 0xf2f52010]);

/** True when only processes of this machine can write to the folder, so that the kernel knows all locks on it. */
export const isLocal = async (folder: string): Promise<boolean> =>
  // The type is an unsigned 32-bit number, which some systems report as a signed one.
  localTypes.has((await statfs(folder)).type >>> 0);
