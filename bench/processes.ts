// Starts the measured server with the real command, and reads the CPU and memory of all its processes.
import { spawn, type ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const ticksPerSecond = 100; // the unit of /proc on Linux, whatever the kernel's own rate

export interface Usage {
  cpuMs: number;
  /** Calls of read and write, and what is like them. */
  ioCalls: number;
  /** How often a process gave up its core or lost it. */
  switches: number;
}

export type Part = 'server' | 'executors' | 'python' | 'database';

export interface Measured {
  url: string;
  /** Process id of the server process. */
  pid: number;
  dataDir: string;
  startMs: number;
  /** CPU milliseconds so far of the server, its executors and PostgreSQL. */
  cpuMs(): number;
  /** The same, separately for the server with its executors and for PostgreSQL. */
  cpu(): { serverMs: number; databaseMs: number };
  /** What the processes have used so far. */
  usage(): Record<Part, Usage>;
  /** The server process and its executors; those of Node only. */
  processIds(): number[];
  /** Resident megabytes of the server process. */
  memoryMb(): number;
  /**
   * Megabytes of all processes with PostgreSQL, as in `usage()`. Memory that processes share, such as code and the buffers of PostgreSQL, counts
   * once.
   */
  allMb(): Record<Part, number>;
  /** Resident megabytes of its executors. */
  executorsMb(): number;
  stop(): Promise<void>;
}

/** Returns what `read` returns. If it throws because the process has ended, returns `otherwise`. */
const unlessEnded = <T>(read: () => T, otherwise: T): T => {
  try {
    return read();
  } catch {
    return otherwise;
  }
};

const read = (file: string): string => unlessEnded(() => readFileSync(file, 'utf8'), '');

/** The fields after the name of the program; undefined if the process has ended. */
const stat = (pid: number): string[] | undefined => {
  const text = read(`/proc/${pid}/stat`);
  return text === '' ? undefined : text.slice(text.lastIndexOf(')') + 2).split(' ');
};

const tree = (roots: number[]): number[] => {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), Number(stat(Number(name))?.[1])] as const);
  const found = new Set(roots);
  for (let size = 0; size !== found.size;) {
    size = found.size;
    for (const [pid, parent] of parents) if (found.has(parent)) found.add(pid);
  }
  return [...found];
};

const cpuOf = (pid: number): number => {
  const fields = stat(pid);
  if (!fields) return 0;
  // utime, stime, and the same of children that have ended
  const ticks = [11, 12, 13, 14].reduce((sum, field) => sum + Number(fields[field]), 0);
  return (ticks * 1000) / ticksPerSecond;
};

/** CPU milliseconds so far of the processes and of all that they started. */
export const cpuOfTree = (...pids: number[]): number => tree(pids).reduce((sum, pid) => sum + cpuOf(pid), 0);

/** Proportional megabytes of the processes and of all that they started. */
export const memoryOfTree = (...pids: number[]): number => proportionalMb(tree(pids));

const sumOf = (text: string, names: string[]): number =>
  names.reduce((sum, name) => sum + Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0), 0);

const switchesOf = (pid: number): number =>
  unlessEnded(() => readdirSync(`/proc/${pid}/task`), [])
    .map((task) => read(`/proc/${pid}/task/${task}/status`))
    .reduce((sum, text) => sum + sumOf(text, ['voluntary_ctxt_switches', 'nonvoluntary_ctxt_switches']), 0);

const usageOf = (pids: number[]): Usage => ({
  cpuMs: pids.reduce((sum, pid) => sum + cpuOf(pid), 0),
  ioCalls: pids.reduce((sum, pid) => sum + sumOf(read(`/proc/${pid}/io`), ['syscr', 'syscw']), 0),
  switches: pids.reduce((sum, pid) => sum + switchesOf(pid), 0),
});

/** Also true for the Python process of an executor: the name of its program is `svc_executor`. */
const isExecutor = (pid: number): boolean => read(`/proc/${pid}/cmdline`).includes('executor');

const isPython = (pid: number): boolean => read(`/proc/${pid}/cmdline`).includes('svc_executor');

const residentMb = (pids: number[]): number =>
  pids.reduce((sum, pid) => sum + sumOf(read(`/proc/${pid}/status`), ['VmRSS']), 0) / 1_024;

/** Megabytes; memory that processes share counts once. */
const proportionalMb = (pids: number[]): number =>
  pids.reduce((sum, pid) => sum + sumOf(read(`/proc/${pid}/smaps_rollup`), ['Pss']), 0) / 1_024;

export const startMeasured = async (
  dataDir: string,
  {
    flags = [],
    env = {},
    project: file = './svc.json',
    command = '../packages/server/bin/svc.js',
  }: { flags?: string[]; env?: Record<string, string>; project?: string; command?: string } = {},
): Promise<Measured> => {
  const program = fileURLToPath(new URL(command, import.meta.url));
  const project = fileURLToPath(new URL(file, import.meta.url));
  const started = performance.now();
  const child: ChildProcess = spawn(
    process.execPath,
    [program, 'start', '--config', project, '--data-dir', dataDir, '--port', '0', ...flags],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, SVC_LOG_LEVEL: 'warn', ...env },
    },
  );
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  let url: string | undefined;
  while (!(url = /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0])) {
    if (child.exitCode !== null) throw new Error(`svc did not start: ${output}`);
    await sleep(2);
  }
  await fetch(`${url}/ok`);
  const startMs = performance.now() - started;
  const postmaster = Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
  const roots = [child.pid ?? 0, postmaster];
  const each = <T>(measure: (pids: number[]) => T): Record<Part, T> => {
    const database = tree([postmaster]);
    const own = tree([child.pid ?? 0]).filter((pid) => !database.includes(pid));
    const python = own.filter(isPython);
    const executors = own.filter((pid) => isExecutor(pid) && !isPython(pid));
    return {
      server: measure(own.filter((pid) => !executors.includes(pid) && !python.includes(pid))),
      executors: measure(executors),
      python: measure(python),
      database: measure(database),
    };
  };
  return {
    url,
    pid: child.pid ?? 0,
    dataDir,
    startMs,
    cpuMs: () => cpuOfTree(...roots),
    cpu: () => {
      const databaseMs = cpuOfTree(postmaster);
      return { serverMs: cpuOfTree(...roots) - databaseMs, databaseMs };
    },
    usage: () => each(usageOf),
    allMb: () => each(proportionalMb),
    processIds: () => [
      child.pid ?? 0,
      ...tree([child.pid ?? 0]).filter((pid) => isExecutor(pid) && !isPython(pid)),
    ],
    memoryMb: () => residentMb([child.pid ?? 0]),
    executorsMb: () => residentMb(tree([child.pid ?? 0]).filter(isExecutor)),
    async stop() {
      child.kill('SIGINT');
      while (child.exitCode === null && child.signalCode === null) await sleep(10);
    },
  };
};
