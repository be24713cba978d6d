// A process by its pid and, where the system tells, the time it started: pids are used again.
import { readFile } from 'node:fs/promises';

/** The start time in clock ticks since boot: field 22 of /proc/<pid>/stat, whose second field may hold spaces. */
const startOf = async (pid: number): Promise<string> => {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return ''; // no /proc on this system, or no such process: the pid alone has to do
  }
};

export const identityOf = async (pid: number): Promise<string> => `${pid} ${await startOf(pid)}`;

export const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/** Whether the process that this identity was taken of still runs. */
export const isAlive = async (identity: string): Promise<boolean> => {
  const [pid = '', start = ''] = identity.trim().split(' ');
  if (!isRunning(Number(pid))) return false;
  return start === '' || (await startOf(Number(pid))) === start;
};
