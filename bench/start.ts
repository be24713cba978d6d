// Time and CPU of a start on existing data, from the sources and from `npm run build`, in turns.
// Usage: npm run build && npm run bench:start [rounds]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startMeasured } from './processes.ts';
import { fixed, median } from './report.ts';

const rounds = Number(process.argv[2] ?? 10);
const commands = {
  sources: '../packages/server/bin/svc.js',
  build: '../build/packages/server/bin/svc.js',
};

interface Start {
  okMs: number;
  firstRunMs: number;
  /** CPU of the server, its executor and PostgreSQL until the first run has ended. */
  cpuMs: number;
}

const start = async (command: string, dataDir: string): Promise<Start> => {
  const began = performance.now();
  const server = await startMeasured(dataDir, { command });
  const response = await fetch(`${server.url}/runs/wait`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ assistant_id: 'agent', input: {} }),
  });
  if (!response.ok) throw new Error(`the run failed: ${await response.text()}`);
  await response.text();
  const measured = { okMs: server.startMs, firstRunMs: performance.now() - began, cpuMs: server.cpuMs() };
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
    const [ok, firstRun, cpu] = (['okMs', 'firstRunMs', 'cpuMs'] as const).map((key) =>
      fixed(median(all.map((one) => one[key])), 0),
    );
    console.log(`${name.padEnd(8)} /ok ${ok} ms, first run ${firstRun} ms, CPU ${cpu} ms`);
  }
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}
