// CPU of a process with its descendants, from /proc. Linux only.
import { readdirSync, readFileSync } from 'node:fs';

/** The kernel counts in hundredths of a second on all systems that Node supports. */
const msPerTick = 10;

/** `utime`, `stime`, and `cutime`, `cstime` of children that have ended: proc_pid_stat(5). */
const ownMs = (pid: string): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name of the program, in parentheses, may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * msPerTick;
};

const childrenOf = (pid: string): string[] =>
  readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean),
  );

/** Milliseconds of CPU, user and system. A process that ends meanwhile counts when its parent has waited for it. */
export const treeCpuMs = (pid: string): number => {
  try {
    return childrenOf(pid).reduce((sum, child) => sum + treeCpuMs(child), ownMs(pid));
  } catch {
    return 0; // it has ended
  }
};
