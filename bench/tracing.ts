// The cost of tracing for a run: the same runs in turns on a server with tracing and on a server without.
// Usage: npm run bench:tracing
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, type Client } from '@svc/sdk';
import { startMeasured, type Measured } from './processes.ts';
import { fixed, median } from './report.ts';

interface Side {
  server: Measured;
  client: Client;
  dir: string;
  latencies: number[];
  cpuMs: number;
  serverMs: number;
}

const blocks = 8;
const alone = 30;
const crowdRuns = 256;
const clients = 32;
/** Pause after which background writes of traces are counted too. */
const settleMs = 1_200;

const open = async (tracing: string): Promise<Side> => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-bench-tracing-'));
  const server = await startMeasured(dir, { env: { SVC_RATE_LIMIT: 'none', SVC_TRACING: tracing } });
  return { server, client: createClient({ apiUrl: server.url }), dir, latencies: [], cpuMs: 0, serverMs: 0 };
};

const run = ({ client }: Side, graph: string): Promise<unknown> =>
  client.runs.wait(randomUUID(), graph, {
    input: { messages: [{ role: 'user', content: 'hello' }] },
    if_not_exists: 'create',
  });

const measure = async (side: Side, graph: string): Promise<void> => {
  for (let at = 0; at < alone; at++) {
    const startedMs = performance.now();
    await run(side, graph);
    side.latencies.push(performance.now() - startedMs);
  }
  await sleep(settleMs);
  const before = side.server.cpu();
  const repeat = async () => {
    for (let at = 0; at < crowdRuns / clients; at++) await run(side, graph);
  };
  await Promise.all(Array.from({ length: clients }, repeat));
  await sleep(settleMs);
  const after = side.server.cpu();
  side.serverMs += after.serverMs - before.serverMs;
  side.cpuMs += after.serverMs - before.serverMs + after.databaseMs - before.databaseMs;
};

const change = (on: number, off: number): string =>
  `${fixed(off)} -> ${fixed(on)} ms (${fixed((on / off - 1) * 100, 1)} %)`;

const sides = { off: await open('off'), on: await open('on') };
for (const graph of process.argv.length > 2 ? process.argv.slice(2) : ['one-node', 'agent', 'thinker']) {
  for (const side of Object.values(sides)) {
    await measure(side, graph);
    Object.assign(side, { latencies: [], cpuMs: 0, serverMs: 0 });
  }
  for (let block = 0; block < blocks; block++)
    for (const side of block % 2 ? [sides.on, sides.off] : [sides.off, sides.on]) await measure(side, graph);
  const { on, off } = sides;
  const count = blocks * crowdRuns;
  process.stdout.write(
    `${graph}: p50 ${change(median(on.latencies), median(off.latencies))}; CPU per run ${change(on.cpuMs / count, off.cpuMs / count)}, ` +
      `of that without PostgreSQL ${change(on.serverMs / count, off.serverMs / count)}\n`,
  );
}
for (const { server, dir } of Object.values(sides)) {
  await server.stop();
  rmSync(dir, { recursive: true, force: true });
}
