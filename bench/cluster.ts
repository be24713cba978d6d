// Many agents that mostly wait for their models, on several nodes with one PostgreSQL: what is lost, how late they are, and what they cost.
//
// npm run build && npm run bench:cluster -- [--threads 1000] [--turns 12] [--turn-ms 5000] [--api 2] [--workers 4] [--jobs auto] [--kill]
//   --jobs  runs that each executor takes at once (N_JOBS_PER_WORKER)
//   --kill  kills one worker with its executors (SIGKILL) when half of the time is over
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createClient, type Client } from '@svc/sdk';
import {
  enableStatementStatistics,
  loadStatementStatistics,
  readCounters,
  storedBytes,
} from './database-counters.ts';
import { type Measured, startMeasured } from './processes.ts';
import { fixed, percentile } from './report.ts';
import { describeLoss, killWorker } from './worker-loss.ts';

const { values } = parseArgs({
  options: {
    threads: { type: 'string', default: '1000' },
    turns: { type: 'string', default: '12' },
    'turn-ms': { type: 'string', default: '5000' },
    api: { type: 'string', default: '2' },
    workers: { type: 'string', default: '4' },
    jobs: { type: 'string', default: 'auto' },
    kill: { type: 'boolean', default: false },
  },
});
const size = {
  threads: Number(values.threads),
  turns: Number(values.turns),
  turnMs: Number(values['turn-ms']),
};
/** New threads per second: users do not all arrive at once. */
const arrivals = 50;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

interface Agent {
  thread_id: string;
  /** From the request to the first superstep. */
  startMs: number;
  /** From the request to the response, without the time that its turns wait. */
  addedMs: number;
}

/** Resolves with undefined for a run that did not end as it should: it is lost. */
const runAgent = async (client: Client): Promise<Agent | undefined> => {
  const { thread_id } = await client.threads.create();
  const sentAt = Date.now();
  const state = (await client.runs.wait(thread_id, 'turns', {
    input: { count: size.turns, ms: size.turnMs },
  })) as { count?: number; startedAt?: number };
  if (state.count !== 0 || state.startedAt === undefined) return undefined;
  return {
    thread_id,
    startMs: state.startedAt - sentAt,
    addedMs: Date.now() - sentAt - size.turns * size.turnMs,
  };
};

const runAll = async (clients: Client[]): Promise<(Agent | undefined)[]> => {
  const agents: Promise<Agent | undefined>[] = [];
  for (let at = 0; at < size.threads; at++) {
    const agent = runAgent(clients[at % clients.length]!).catch((error: unknown) => {
      print(`lost: ${String(error)}`);
      return undefined;
    });
    agents.push(agent);
    await sleep(1_000 / arrivals);
  }
  return Promise.all(agents);
};

interface Usage {
  apiMs: number;
  workersMs: number;
  executorsMs: number;
  databaseMs: number;
}

const usageOf = (apis: Measured[], workers: Measured[]): Usage => {
  const of = (nodes: Measured[], part: 'server' | 'executors'): number =>
    nodes.reduce((sum, node) => sum + node.usage()[part].cpuMs, 0);
  return {
    apiMs: of(apis, 'server'),
    workersMs: of(workers, 'server'),
    executorsMs: of(workers, 'executors'),
    databaseMs: apis[0]!.usage().database.cpuMs,
  };
};

const printUsage = (before: Usage, after: Usage): void => {
  const perRun = (part: keyof Usage): number => (after[part] - before[part]) / size.threads;
  const parts = Object.keys(before) as (keyof Usage)[];
  const all = parts.reduce((sum, part) => sum + perRun(part), 0);
  const each = parts.map((part) => `${part.slice(0, -2)} ${fixed(perRun(part), 1)}`).join(', ');
  print(`CPU of a run, ms: ${each}; together ${fixed(all, 1)}, ${fixed(all / size.turns, 2)} for each turn`);
};

const printMemory = (apis: Measured[], workers: Measured[]): void => {
  const of = (nodes: Measured[]): string => nodes.map((node) => fixed(node.memoryMb(), 0)).join(', ');
  const executors = workers.map((node) => fixed(node.executorsMb(), 0)).join(', ');
  print(`memory, MB: api ${of(apis)}; workers ${of(workers)}; executors ${executors}`);
};

const measure = async (dataDir: string, apis: Measured[], workers: Measured[]): Promise<void> => {
  const clients = apis.map(({ url }) => createClient({ apiUrl: url }));
  await enableStatementStatistics(dataDir);
  const counters = await readCounters(dataDir);
  const bytes = await storedBytes(dataDir);
  const before = usageOf(apis, workers);
  const running = runAll(clients);
  const halfMs = (size.threads / arrivals) * 1_000 + (size.turns * size.turnMs) / 2;
  await sleep(halfMs);
  printMemory(apis, workers);
  const loss = values.kill ? killWorker(workers.at(-1)!) : undefined;
  const agents = await running;
  const ended = agents.filter((agent) => agent !== undefined);
  print(
    `${size.threads} threads, each a run of ${size.turns} turns of ${size.turnMs} ms: ${size.threads - ended.length} lost`,
  );
  for (const [what, of] of [
    ['until the first turn', ({ startMs }: Agent) => startMs],
    ['added to the turns of a run', ({ addedMs }: Agent) => addedMs],
  ] as const) {
    const times = ended.map(of);
    print(`${what}, p50 and p99: ${percentile(times, 0.5)}, ${percentile(times, 0.99)} ms`);
  }
  // The CPU of a killed worker is not known any more.
  if (loss === undefined) printUsage(before, usageOf(apis, workers));
  else {
    const threadIds = ended.map(({ thread_id }) => thread_id);
    for (const line of await describeLoss(clients[0]!, threadIds, loss)) print(line);
  }
  await sleep(1_500); // backends of PostgreSQL report their counters when they have been idle for a moment
  const after = await readCounters(dataDir);
  const perRun = (what: 'commits' | 'statements'): string =>
    fixed((after[what] - counters[what]) / size.threads, 1);
  const kb = (count: number): string => `${fixed(count / size.threads / 1_024, 1)} KB`;
  print(
    `WAL of a run: ${kb(after.walBytes - counters.walBytes)}, stored: ${kb((await storedBytes(dataDir)) - bytes)}`,
  );
  print(`statements of a run: ${perRun('statements')}, commits: ${perRun('commits')}`);
};

const dataDir = join(mkdtempSync(join(tmpdir(), 'svc-bench-cluster-')), 'data');
const nodes: Measured[] = [];
try {
  // One executor, and fewer connections than by default: all nodes share the connections of one PostgreSQL.
  const env = { SVC_POOL_MAX: '5', SVC_EXECUTORS: '1', SVC_EXPORT_SLOTS: '1', SVC_SHUTDOWN_GRACE: '0s' };
  const start = async (role: string, count: number): Promise<Measured[]> => {
    const started: Measured[] = [];
    for (let at = 0; at < count; at++) {
      const node = await startMeasured(dataDir, {
        command: '../build/packages/server/bin/svc.js',
        flags: ['--role', role, '--n-jobs-per-worker', values.jobs],
        env,
      });
      nodes.push(node);
      started.push(node);
    }
    return started;
  };
  await start('api', 1);
  await loadStatementStatistics(dataDir);
  await nodes.pop()!.stop();
  const apis = await start('api', Number(values.api));
  const workers = await start('worker', Number(values.workers));
  await sleep(3_000);
  await measure(dataDir, apis, workers);
} finally {
  for (const node of nodes.toReversed()) await node.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
