// Processes as /proc shows them: the children of one, and what it holds.
import { readdirSync, readFileSync } from 'node:fs';

/** After the name, which may hold spaces: state, parent, … */
const statOf = (pid: number): string[] => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return []; // it has ended
  }
};

const commandOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
};

/** The pids of the living children whose command line holds `text`. */
export const childrenOf = (pid: number, text: string): number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((child) => {
      const [state, parent] = child > 0 ? statOf(child) : [];
      return Number(parent) === pid && state !== 'Z' && commandOf(child).includes(text);
    });

/** Open files and sockets. */
export const openFilesOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

/** Bytes of memory that are in use now. */
export const memoryOf = (pid: number): number => {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1]) * 1024;
};

/** A signal to a process, or with a negative pid to its group; to one that has ended, none. */
export const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};
