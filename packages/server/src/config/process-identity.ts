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
  // The format and the time zone of `lstart` depend on the environment.
  const env = { LC_ALL: 'C', TZ: 'UTC' };
  const { stdout } = spawnSync('/bin/ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', env });
  return (stdout ?? '').trim().replaceAll(/\s+/g, '_');
};

const scopeText = ({ boot, namespace, host }: PidScope): string => [boot, namespace, host].join(' ');

const processText = (pid: number): string => `${pid} ${startOf(pid)}`;

export const identityOf = (pid: number): string => `${processText(pid)} ${scopeText(ownScope())}`;

/** The identity of a process in two parts. */
export interface ProcessIdentity {
  /** Where the process id is valid: boot, pid namespace and host. Null when that is unknown, so that no other process can check it. */
  machine: string | null;
  /** Process id and start time. */
  process: string;
}

/**
 * The identity of this process. Without a boot id and a pid namespace, the host name does not identify a machine; `machine` is null then,
 * unless `isLocal` is set: every reader of the identity runs on this machine.
 */
export const ownIdentity = ({ isLocal }: { isLocal: boolean }): ProcessIdentity => {
  const scope = ownScope();
  const isKnown = isLocal || (scope.boot !== '' && scope.namespace !== '');
  return { machine: isKnown ? scopeText(scope) : null, process: processText(process.pid) };
};

/** The scope in an identity. */
export const scopeOf = (identity: string): PidScope => {
  const [, , boot = '', namespace = '', host = 'unknown'] = identity.trim().split(' ');
  return { boot, namespace, host };
};

/**
 * True when a process with this pid runs, also when this process may not see more of it. A zombie counts as ended: in a container its
 * exit code may never be collected.
 */
export const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  return statOf(pid)[0] !== 'Z';
};

/**
 * True when a process with this pid runs, and its start time is equal or cannot be read. It cannot be read when /proc hides the processes
 * of other users, or when this process has no file descriptor left.
 */
const isSameProcess = (text: string): boolean => {
  const [pid = '', start = ''] = text.trim().split(' ');
  if (!(Number(pid) > 0) || !isRunning(Number(pid))) return false;
  return start === '' || ['', start].includes(startOf(Number(pid)));
};

/** True when the identified process still runs. False for a process of another scope. */
export const isAlive = (identity: string): boolean =>
  isSameScope(scopeOf(identity)) && isSameProcess(identity);

/** True when this process of the same machine is known to have ended. */
export const hasEnded = ({ process: text }: Pick<ProcessIdentity, 'process'>): boolean =>
  !isSameProcess(text);
