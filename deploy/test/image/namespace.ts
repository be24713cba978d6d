// A process as a container engine starts it: PID 1 of its namespace, with a read-only root, without capabilities, and as the user of the image.
// Its files are those of this machine, so no engine is needed.
import { execFileSync, spawn, type ChildProcess, type ChildProcessByStdio } from 'node:child_process';
import { chown, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

/** Mounts that stay writable: the volume, and a folder for temporary files. */
export interface Writable {
  data: string;
  temporary: string;
}

const script = `
  owner=$1 data=$2 temporary=$3 dir=$4
  shift 4
  mount --make-rprivate /
  mount --bind "$data" "$data"
  mount -t tmpfs tmpfs "$temporary"
  chmod 1777 "$temporary"
  mount -t proc proc /proc
  mount -o remount,bind,ro /
  exec setpriv --reuid "\${owner%:*}" --regid "\${owner#*:}" --clear-groups --bounding-set=-all --inh-caps=-all env -C "$dir" "$@"`;

const unshare = ['--mount', '--pid', '--fork', '--kill-child'];

/** True when this process may start others like this: as root on Linux, where no sandbox forbids it. */
export const canUseNamespaces = (): boolean => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  try {
    execFileSync('unshare', [...unshare, 'setpriv', '--bounding-set=-all', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

export interface NamespaceOptions {
  /** `uid:gid`. */
  owner: string;
  cwd: string;
  env: NodeJS.ProcessEnv;
  writable: Writable;
}

/** Folders below `parent`, of the owner where this process may give them away. */
export const makeWritable = async (parent: string, owner: string): Promise<Writable> => {
  const writable = { data: join(parent, 'data'), temporary: join(parent, 'tmp') };
  const [uid = 0, gid = 0] = owner.split(':').map(Number);
  for (const path of Object.values(writable)) {
    await mkdir(path);
    if (process.getuid?.() === 0) await chown(path, uid, gid);
  }
  return writable;
};

/** The child process is `unshare`; it ends with the exit code of the program. */
export const spawnInNamespace = (
  command: readonly string[],
  { owner, cwd, env, writable: { data, temporary } }: NamespaceOptions,
): ChildProcessByStdio<null, Readable, Readable> =>
  spawn('unshare', [...unshare, 'sh', '-euc', script, '-', owner, data, temporary, cwd, ...command], {
    env: { ...env, TMPDIR: temporary },
    stdio: ['ignore', 'pipe', 'pipe'],
  });

/** The program in the namespace, as it is numbered outside. */
export const pidOf = ({ pid }: ChildProcess): number =>
  Number(execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' }));
