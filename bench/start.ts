// Time, CPU and memory of a start on existing data, and memory after a burst of runs.
// Usage: npm run bench:start [rounds] [rounds with memory]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Measured, startMeasured } from './processes.ts';
import { fixed, median } from './report.ts';

const rounds = Number(process.argv[2] ?? 10);
const memoryRounds = Number(process.argv[3] ?? 3);
const burst = { runs: 1_000, clients: 32 };
/** Processes that become idle give memory back within this time. */
const idleMs = 30_000;

const run = async ({ url }: Measured): Promise<void> => {
  const response = await fetch(`${url}/runs/wait`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ assistant_id: 'agent', input: {} }),
  });
  if (!response.ok) throw new Error(`the run failed: ${await response.text()}`);
  await response.text();
};

/** Milliseconds of each measurement, by name. */
const start = async (dataDir: string) => {
  const began = performance.now();
  const server = await startMeasured(dataDir);
  while (!(await fetch(`${server.url}/ready`)).ok) await sleep(20);
  const ready = performance.now() - began;
  await run(server);
  const firstRun = performance.now() - began;
  const usage = server.usage();
  await server.stop();
  return {
    '/ok': server.startMs,
    '/ready': ready,
    'end of the first run': firstRun,
    'CPU of the server': usage.server.cpuMs,
    'CPU of the executor': usage.executors.cpuMs,
    'CPU of PostgreSQL': usage.database.cpuMs,
  };
};

/** Proportional megabytes of all processes. */
const memory = async (dataDir: string) => {
  const server = await startMeasured(dataDir);
  await run(server);
  await sleep(idleMs);
  const idle = server.allMb();
  let left = burst.runs;
  const client = async (): Promise<void> => {
    while (left-- > 0) await run(server);
  };
  await Promise.all(Array.from({ length: burst.clients }, client));
  const after = server.allMb();
  await sleep(2 * idleMs);
  const later = server.allMb();
  await server.stop();
  return {
    ...parts('idle', idle),
    ...parts(`after ${burst.runs} runs`, after),
    ...parts('a minute later', later),
  };
};

/** The sum of all processes, and each part of it. */
const parts = (
  moment: string,
  { server, executors, python, database }: ReturnType<Measured['allMb']>,
): Record<string, number> => ({
  [moment]: server + executors + python + database,
  [`${moment}, server`]: server,
  [`${moment}, executor`]: executors,
  [`${moment}, PostgreSQL`]: database,
});

const print = (unit: string, all: Record<string, number>[]): void => {
  for (const name of Object.keys(all[0] ?? {}))
    console.log(`${name}: ${fixed(median(all.map((one) => one[name] ?? 0)), 0)} ${unit}`);
};

const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-start-'));
try {
  await start(dataDir); // compiles the sources and creates the database
  const starts = [];
  for (let round = 0; round < rounds; round++) starts.push(await start(dataDir));
  const memories = [];
  for (let round = 0; round < memoryRounds; round++) memories.push(await memory(dataDir));
  console.log(`Node ${process.version}, medians of ${rounds} starts, memory of ${memoryRounds}`);
  print('ms', starts);
  print('MB', memories);
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}
