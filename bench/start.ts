// Time and CPU of a start on existing data, from the sources and from `npm run build`, in turns.
// Usage: npm run build && npm run bench:start [rounds]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startMeasured } from './processes.ts';
import { fixed, median } from './report.ts';

const rounds = Number(process.argv[2] ?? 10);
const commands = {
  sources: '../packages/server/bin/svc.js',
  build: '../build/packages/server/bin/svc.js',
};

interface Start {
  okMs: number;
  /** Until an executor can take a run. */
  readyMs: number;
  firstRunMs: number;
  /** CPU until the first run has ended. */
  serverCpuMs: number;
  executorCpuMs: number;
  databaseCpuMs: number;
  /** Resident memory of the server process after the first run. */
  memoryMb: number;
}

const start = async (command: string, dataDir: string): Promise<Start> => {
  const began = performance.now();
  const server = await startMeasured(dataDir, { command });
  while (!(await fetch(`${server.url}/ready`)).ok) await sleep(20);
  const readyMs = performance.now() - began;
  const response = await fetch(`${server.url}/runs/wait`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ assistant_id: 'agent', input: {} }),
  });
  if (!response.ok) throw new Error(`the run failed: ${await response.text()}`);
  await response.text();
  const firstRunMs = performance.now() - began;
  const usage = server.usage();
  const measured = {
    okMs: server.startMs,
    readyMs,
    firstRunMs,
    serverCpuMs: usage.server.cpuMs,
    executorCpuMs: usage.executors.cpuMs,
    databaseCpuMs: usage.database.cpuMs,
    memoryMb: server.memoryMb(),
  };
  await server.stop();
  return measured;
};

const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-start-'));
try {
  await start(commands.sources, dataDir); // creates the database
  const starts: Record<keyof typeof commands, Start[]> = { sources: [], build: [] };
  for (let round = 0; round < rounds; round++) {
    starts.sources.push(await start(commands.sources, dataDir));
    starts.build.push(await start(commands.build, dataDir));
  }
  console.log(`Node ${process.version}, median of ${rounds} starts`);
  for (const [name, all] of Object.entries(starts)) {
    const of = (key: keyof Start): string => fixed(median(all.map((one) => one[key])), 0);
    console.log(
      `${name.padEnd(8)} /ok ${of('okMs')} ms, /ready ${of('readyMs')} ms, first run ${of('firstRunMs')} ms; CPU: server ` +
        `${of('serverCpuMs')} ms, executors ${of('executorCpuMs')} ms, PostgreSQL ${of('databaseCpuMs')} ms; ${of('memoryMb')} MB`,
    );
  }
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}
