// A lock that the kernel keeps for as long as any process of the server runs, in whatever container: flock(2) on a file, taken
// on a descriptor that the server inherits. Node cannot take one, flock(1) can.
import { spawn } from 'node:child_process';
import { open, statfs, type FileHandle } from 'node:fs/promises';

/** `unknown`: this system has no flock(1), or the file system keeps no such locks. */
export type ClaimState = 'taken' | 'held' | 'unknown';

export interface Claim extends AsyncDisposable {
  state: ClaimState;
  /** A process that inherits it keeps the lock; disposing closes only our own. */
  fd: number;
}

/** Tries once; held is what somebody else has. */
export const openClaim = async (file: string): Promise<Claim> => {
  const handle = await open(file, 'a', 0o600);
  try {
    return { state: await lock(handle), fd: handle.fd, [Symbol.asyncDispose]: () => handle.close() };
  } catch (error) {
    await handle.close();
    throw error;
  }
};

const lock = (handle: FileHandle): Promise<ClaimState> =>
  new Promise((resolve) => {
    const child = spawn('flock', ['-n', '3'], { stdio: ['ignore', 'ignore', 'ignore', handle.fd] });
    child.once('error', () => resolve('unknown'));
    child.once('exit', (code) => resolve(code === 0 ? 'taken' : code === 1 ? 'held' : 'unknown'));
  });

/** ext, xfs, btrfs, tmpfs, overlayfs, zfs, f2fs: what another machine does on them is no business of theirs. */
const localTypes = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1, 0xf2f52010]);

/** Whether every process that could write to the folder is on this machine, so that the kernel knows all its locks. */
export const isLocal = async (folder: string): Promise<boolean> =>
  // 32 bits, which some systems take for a signed number.
  localTypes.has((await statfs(folder)).type >>> 0);
