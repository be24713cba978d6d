// What one run costs, and where: CPU by process and by stage, system calls, statements, and what the database writes.
//
// npm run bench:cost              prints runs/wait on new threads with 1 and with 32 clients
// npm run bench:cost -- --json    the same figures as JSON, to compare two commits
// npm run bench:cost -- --python  with the Python graphs of bench/python, by the interpreter of the active environment
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createClient, type Client } from '@svc/sdk';
import { type Stage, stagesOf } from './cpu-profiles.ts';
import {
  type DatabaseCounters,
  enableStatementStatistics,
  loadStatementStatistics,
  readCounters,
  readStatements,
  type StatementCost,
} from './database-counters.ts';
import { type Measured, type Part, startMeasured, type Usage } from './processes.ts';
import { fixed } from './report.ts';

interface Cost {
  clients: number;
  runsPerSecond: number;
  processes: Record<string, Usage>;
  database: DatabaseCounters;
  statements: StatementCost[];
}

const warmUps = 400;
const counts = { alone: 600, together: 3_200, profiled: 3_200 };
const shownStages = 14;
const shownStatements = 12;

const runOnce = (client: Client): Promise<unknown> =>
  client.runs.wait(randomUUID(), 'one-node', {
    input: { messages: [{ role: 'user', content: 'hello' }] },
    if_not_exists: 'create',
  });

const runMany = async (client: Client, clients: number, count: number): Promise<void> => {
  const one = async () => {
    for (let done = 0; done < count / clients; done++) await runOnce(client);
  };
  await Promise.all(Array.from({ length: clients }, one));
};

const perRun = <T extends object>(before: T, after: T, count: number): T =>
  Object.fromEntries(
    Object.entries(after).map(([name, value]) => [
      name,
      (Number(value) - Number(before[name as keyof T])) / count,
    ]),
  ) as T;

/** Backends of PostgreSQL report their counters when they have been idle for a moment. */
const settled = () => sleep(1_500);

const measure = async (server: Measured, client: Client, clients: number, count: number): Promise<Cost> => {
  await settled();
  await enableStatementStatistics(server.dataDir);
  const database = await readCounters(server.dataDir);
  const usage = server.usage();
  const started = performance.now();
  await runMany(client, clients, count);
  const ms = performance.now() - started;
  const used = server.usage();
  const statements = await readStatements(server.dataDir, shownStatements);
  await settled();
  const after = await readCounters(server.dataDir);
  return {
    clients,
    runsPerSecond: (count / ms) * 1_000,
    processes: Object.fromEntries(
      (Object.keys(used) as Part[]).map((name) => [name, perRun(usage[name], used[name], count)]),
    ),
    database: perRun(database, after, count),
    statements: statements.map(({ text, calls, ms }) => ({ text, calls: calls / count, ms: ms / count })),
  };
};

/** Milliseconds of CPU per run and stage, of the server and of its executors. */
const profile = async (
  server: Measured,
  client: Client,
  folder: string,
): Promise<Record<string, Stage[]>> => {
  const toggle = () => server.processIds().forEach((pid) => process.kill(pid, 'SIGUSR2'));
  toggle();
  await runMany(client, 32, counts.profiled);
  toggle();
  while (readdirSync(folder).length < server.processIds().length) await sleep(100);
  await sleep(500);
  return Object.fromEntries(
    readdirSync(folder).map((name) => [
      name.startsWith(`${server.pid}.`) ? 'server' : 'executor',
      stagesOf(join(folder, name)).map(({ stage, ms }) => ({ stage, ms: ms / counts.profiled })),
    ]),
  );
};

interface Bare {
  cpuMsPerRun: number;
  runsPerSecond: number;
}

/** The engine of LangGraph.js alone, with 32 runs at once, in the same minutes. */
const measureEngine = (): Bare => {
  const file = fileURLToPath(new URL('./bare-engine.ts', import.meta.url));
  return JSON.parse(execFileSync(process.execPath, ['--import', 'tsx', file]).toString()) as Bare;
};

const print = (line = ''): void => void process.stdout.write(`${line}\n`);

const printCost = ({ clients, runsPerSecond, processes, database, statements }: Cost, engine: Bare): void => {
  const cpu = Object.values(processes).reduce((sum, { cpuMs }) => sum + cpuMs, 0);
  print(
    `\n${clients} clients: ${fixed(runsPerSecond, 0)} runs/s, ${fixed(cpu)} ms of CPU (${fixed(cpu / engine.cpuMsPerRun)} of the engine). For each run:`,
  );
  for (const [name, { cpuMs, ioCalls, switches }] of Object.entries(processes))
    print(
      `  ${name}: ${fixed(cpuMs)} ms of CPU, ${fixed(ioCalls, 1)} reads and writes, ${fixed(switches, 1)} context switches`,
    );
  const { commits, fsyncs, walBytes, walRecords, tuplesUpdated, hotUpdates } = database;
  print(
    `  ${fixed(database.statements)} statements, ${fixed(commits)} commits, ${fixed(fsyncs)} fsyncs, ${fixed(walBytes / 1024, 1)} KB of WAL in ${fixed(walRecords, 1)} records`,
  );
  print(`  ${fixed(tuplesUpdated)} rows updated, ${fixed(hotUpdates)} of them without a change of an index`);
  for (const { text, calls, ms } of statements)
    print(`  ${fixed(calls)} x, ${fixed(ms, 3)} ms: ${text.slice(0, 110)}`);
};

const printStages = (name: string, stages: Stage[]): void => {
  const all = stages.reduce((sum, { ms }) => sum + ms, 0);
  print(`\n${name}, CPU by stage with 32 clients, while it is profiled: ${fixed(all)} ms for each run`);
  for (const { stage, ms } of stages.slice(0, shownStages)) print(`  ${fixed(ms, 3)} ms  ${stage}`);
};

const folder = mkdtempSync(join(tmpdir(), 'svc-bench-cost-'));
const dataDir = join(folder, 'data');
const profiles = join(folder, 'profiles');
const project = process.argv.includes('--python') ? './python/langgraph.json' : './svc.json';
mkdirSync(profiles);
try {
  const first = await startMeasured(dataDir, { project });
  await loadStatementStatistics(dataDir);
  await first.stop();
  const probe = new URL('./profile-probe.mjs', import.meta.url).href;
  const env = { NODE_OPTIONS: `--import ${probe}`, SVC_BENCH_PROFILES: profiles };
  const server = await startMeasured(dataDir, { env, project });
  try {
    const client = createClient({ apiUrl: server.url });
    await runMany(client, 8, warmUps);
    const costs = [
      await measure(server, client, 1, counts.alone),
      await measure(server, client, 32, counts.together),
    ];
    const stages = await profile(server, client, profiles);
    const engine = measureEngine();
    if (process.argv.includes('--json')) print(JSON.stringify({ engine, costs, stages }));
    else {
      print(
        `The engine alone, 32 at once: ${fixed(engine.runsPerSecond, 0)} runs/s, ${fixed(engine.cpuMsPerRun)} ms of CPU`,
      );
      for (const cost of costs) printCost(cost, engine);
      for (const [name, of] of Object.entries(stages)) printStages(name, of);
    }
  } finally {
    await server.stop();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
