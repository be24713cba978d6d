// Starts the measured server with the real command, and reads the CPU and memory of all its processes.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const ticksPerSecond = 100; // the unit of /proc on Linux, whatever the kernel's own rate

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
  /** Resident megabytes of the server process. */
  memoryMb(): number;
  stop(): Promise<void>;
}

const stat = (pid: number): string[] | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined; // ended meanwhile
  }
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
  const cpuOfTree = (...pids: number[]): number => tree(pids).reduce((sum, pid) => sum + cpuOf(pid), 0);
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
    memoryMb: () => Number(execFileSync('ps', ['-o', 'rss=', '-p', String(child.pid)]).toString()) / 1024,
    async stop() {
      child.kill('SIGINT');
      while (child.exitCode === null) await sleep(10);
    },
  };
};
