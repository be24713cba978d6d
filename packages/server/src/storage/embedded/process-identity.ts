// A process by its pid and, where the system tells, the time it started: pids are used again.
import { readFileSync } from 'node:fs';

/** From the state on, the third field: the second may hold spaces. Empty without /proc, or such a process. */
const statOf = (pid: number): string[] => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return []; // the pid alone has to do
  }
};

/** The start time is in clock ticks since boot. */
export const identityOf = (pid: number): string => `${pid} ${statOf(pid)[19] ?? ''}`;

/** A zombie has ended: in a container nobody may ever fetch its exit code. */
export const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return statOf(pid)[0] !== 'Z';
};

/** Whether the process that this identity was taken of still runs. */
export const isAlive = (identity: string): boolean => {
  const [pid = '', start = ''] = identity.trim().split(' ');
  if (!(Number(pid) > 0) || !isRunning(Number(pid))) return false;
  return start === '' || identityOf(Number(pid)) === `${pid} ${start}`;
};
