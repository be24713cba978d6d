// Identifies a process by its pid, its start time and the scope of the pid: pids are reused, and every machine and every container
// has its own.
import { spawnSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** Processes with the same boot and namespace have comparable pids. */
export interface PidScope {
  /** Boot id of the kernel; empty on systems that have none. */
  boot: string;
  /** Pid namespace; empty on systems that have none. */
  namespace: string;
  /** For messages. */
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
    return ''; // not on this system, or no permission
  }
};

/** The scope of this process. */
export const ownScope = (): PidScope => ({
  boot: read('/proc/sys/kernel/random/boot_id'),
  namespace: readLink('/proc/self/ns/pid'),
  host: hostname().replaceAll(/\s/g, '_') || 'unknown',
});

/** True when pids of that scope are comparable with ours. An identity without a scope counts as ours. */
export const isSameScope = ({ boot, namespace }: PidScope): boolean => {
  const own = ownScope();
  return boot === '' || own.boot === '' || (boot === own.boot && namespace === own.namespace);
};

/** Fields of /proc/<pid>/stat from the third one (state), since the second may contain spaces. Empty without /proc or such a process. */
const statOf = (pid: number): string[] => {
  const stat = read(`/proc/${pid}/stat`);
  return stat === '' ? [] : stat.slice(stat.lastIndexOf(')') + 2).split(' ');
};

/** Start time: clock ticks since boot, or the output of ps where there is no /proc; empty where neither exists. */
const startOf = (pid: number): string => {
  const ticks = statOf(pid)[19];
  if (ticks !== undefined || process.platform === 'linux' || process.platform === 'win32') return ticks ?? '';
  return spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' })
    .stdout.trim()
    .replaceAll(/\s+/g, '_');
};

const scopeText = ({ boot, namespace, host }: PidScope): string => [boot, namespace, host].join(' ');

const processText = (pid: number): string => `${pid} ${startOf(pid)}`;

export const identityOf = (pid: number): string => `${processText(pid)} ${scopeText(ownScope())}`;

export interface OwnProcess {
  /** Where the process id is valid. Null when that is unknown, so that no other process can check it. */
  machine: string | null;
  /** Process id and start time. */
  process: string;
}

/**
 * The identity of this process in two parts. On a system without boot ids, the host name does not identify a machine;
 * there `machine` is null unless `isLocal` is set: every reader of the identity runs on this machine.
 */
export const ownProcess = ({ isLocal }: { isLocal: boolean }): OwnProcess => {
  const scope = ownScope();
  const isKnown = isLocal || scope.boot !== '';
  return { machine: isKnown ? scopeText(scope) : null, process: processText(process.pid) };
};

/** The scope in an identity. Files of earlier releases have none. */
export const scopeOf = (identity: string): PidScope => {
  const [, , boot = '', namespace = '', host = 'unknown'] = identity.trim().split(' ');
  return { boot, namespace, host };
};

/** True when a process with this pid runs. A zombie counts as ended: in a container its exit code may never be collected. */
export const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return statOf(pid)[0] !== 'Z';
};

/** True when the process of an identity in two parts still runs. */
export const isProcessAlive = ({ machine, process: own }: OwnProcess): boolean =>
  isAlive(`${own} ${machine ?? ''}`);

/** True when the identified process still runs. False for a process of another scope. */
export const isAlive = (identity: string): boolean => {
  const [pid = '', start = ''] = identity.trim().split(' ');
  if (!(Number(pid) > 0) || !isSameScope(scopeOf(identity)) || !isRunning(Number(pid))) return false;
  return start === '' || startOf(Number(pid)) === start;
};
