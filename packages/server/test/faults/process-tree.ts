// Processes as /proc shows them: their children, files and memory.
import { readdirSync, readFileSync } from 'node:fs';

/** The fields after the name, which may contain spaces: state, parent, … */
const statOf = (pid: number): string[] => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return []; // the process has ended
  }
};

const commandOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
};

/** The pids of living children whose command line contains `text`. */
export const childrenOf = (pid: number, text: string): number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((child) => {
      const [state, parent] = child > 0 ? statOf(child) : [];
      return Number(parent) === pid && state !== 'Z' && commandOf(child).includes(text);
    });

/** The number of open files and sockets. */
export const openFilesOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

/** The resident memory in bytes. */
export const memoryOf = (pid: number): number => {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1]) * 1024;
};

/** Sends a signal to a process, or with a negative pid to its group; does nothing when it has ended. */
export const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};
