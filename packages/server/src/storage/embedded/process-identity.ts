// A process by its pid, the time it started, and where its pid means something: pids are used again, and every machine and
// every container has its own.
import { spawnSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** Where pids can be compared. */
export interface Place {
  /** Of the running kernel; empty on systems that do not tell. */
  boot: string;
  /** Of pids; empty as above. */
  namespace: string;
  /** For people. */
  host: string;
}

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return ''; // not on this system
  }
};

const readLink = (path: string): string => {
  try {
    return readlinkSync(path);
  } catch {
    return ''; // not on this system, or not ours to read
  }
};

/** Where this process is. */
export const here = (): Place => ({
  boot: read('/proc/sys/kernel/random/boot_id'),
  namespace: readLink('/proc/self/ns/pid'),
  host: hostname().replaceAll(/\s/g, '_') || 'unknown',
});

/** Whether a pid from there is one of ours; what does not say where it is from is taken for ours. */
export const isHere = ({ boot, namespace }: Place): boolean => {
  const own = here();
  return boot === '' || own.boot === '' || (boot === own.boot && namespace === own.namespace);
};

/** From the state on, the third field: the second may hold spaces. Empty without /proc, or such a process. */
const statOf = (pid: number): string[] => {
  const stat = read(`/proc/${pid}/stat`);
  return stat === '' ? [] : stat.slice(stat.lastIndexOf(')') + 2).split(' ');
};

/** In clock ticks since boot; as a text of ps where there is no /proc; empty where neither tells. */
const startOf = (pid: number): string => {
  const ticks = statOf(pid)[19];
  if (ticks !== undefined || process.platform === 'linux' || process.platform === 'win32') return ticks ?? '';
  return spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' })
    .stdout.trim()
    .replaceAll(/\s+/g, '_');
};

export const identityOf = (pid: number): string => {
  const { boot, namespace, host } = here();
  return [pid, startOf(pid), boot, namespace, host].join(' ');
};

/** Of an identity; files of earlier releases name no place. */
export const placeOf = (identity: string): Place => {
  const [, , boot = '', namespace = '', host = 'unknown'] = identity.trim().split(' ');
  return { boot, namespace, host };
};

/** Whether a process with this pid runs. A zombie has ended: in a container nobody may ever fetch its exit code. */
export const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return statOf(pid)[0] !== 'Z';
};

/** Whether the process that this identity was taken of still runs. False for one of another place. */
export const isAlive = (identity: string): boolean => {
  const [pid = '', start = ''] = identity.trim().split(' ');
  if (!(Number(pid) > 0) || !isHere(placeOf(identity)) || !isRunning(Number(pid))) return false;
  return start === '' || startOf(Number(pid)) === start;
};
