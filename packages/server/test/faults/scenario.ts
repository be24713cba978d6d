// A scenario: a cluster under load, faults, then no load; all runs must end, and every invariant must hold.
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { Caller, readStream } from './caller.ts';
import { Cluster, type Member } from './cluster.ts';
import { History } from './history.ts';
import type { Evidence } from './invariants/evidence.ts';
import { violations, type Invariant } from './invariants/invariants.ts';
import type { ClusterPostgres } from './postgres.ts';
import { Random } from './random.ts';
import { Workload, type WorkloadOptions } from './workload.ts';

/** Scales the scenarios: 1 is short enough for continuous integration. */
export const rounds = Number(process.env['SVC_FAULT_ROUNDS'] ?? 1);

const drainMs = 60_000;

/** The start of a step. */
export interface Execution {
  /** The marker of the run, and the number of the step. */
  entry: string;
  pid: number;
  /** By the clock of the process, in milliseconds. */
  at: number;
}

export interface Stage {
  cluster: Cluster;
  random: Random;
  history: History;
  caller: Caller;
  /** Records a fault in the history. */
  note: (what: string) => void;
  sleep: (ms: number) => Promise<unknown>;
  /** The file in which runs record the steps that they execute. */
  file: string;
  executed: () => Promise<Execution[]>;
}

type Where =
  | { postgres: ClusterPostgres; nodes: Record<string, Member> }
  /** A cluster that is shared with other scenarios. */
  | { cluster: Cluster };

export type ScenarioOptions = Where & {
  /** No load when absent: the faults bring their own. */
  load?: Partial<Pick<WorkloadOptions, 'clients' | 'actions' | 'steps' | 'ms' | 'durability'>>;
  /** The URLs that clients use; by default those of all running nodes that serve clients. */
  urls?: () => string[];
  faults: (stage: Stage) => Promise<void>;
  /** Invariants that do not apply. */
  except?: Invariant[];
  /** Further checks, once all runs have ended. */
  after?: (stage: Stage) => Promise<void>;
};

export const runScenario = async (options: ScenarioOptions): Promise<void> => {
  if ('cluster' in options) {
    try {
      return await play(options, options.cluster);
    } finally {
      await options.cluster.clear();
    }
  }
  await using cluster = await Cluster.open(options.postgres, options.nodes);
  await play(options, cluster);
};

const play = async (options: Omit<ScenarioOptions, keyof Where>, cluster: Cluster): Promise<void> => {
  const seed = Number(process.env['SVC_FAULT_SEED'] ?? Date.now() % 1_000_000);
  const folder = await mkdtemp(join(tmpdir(), 'svc-fault-'));
  const file = join(folder, 'executed.jsonl');
  await writeFile(file, '');
  const history = new History(join(folder, 'history.jsonl'));
  const random = new Random(seed);
  const caller = new Caller(options.urls ?? (() => cluster.urls()), random.fork());
  const stage: Stage = {
    cluster,
    random: random.fork(),
    history,
    caller,
    note: (what) => history.add({ op: 'fault', what }),
    sleep,
    file,
    executed: async () =>
      (await readFile(file, 'utf8'))
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Execution),
  };
  try {
    const query: Evidence['query'] = (text, values) => cluster.query(text, values);
    const workload =
      options.load && new Workload({ clients: 4, ...options.load, caller, history, random, query, file });
    try {
      await options.faults(stage);
    } finally {
      const stopped = workload?.stop();
      await cluster.heal();
      await stopped;
    }
    await cluster.drain(drainMs);
    const except: Invariant[] = [
      ...(options.except ?? []),
      ...(options.load ? [] : (['mostRequestsWereServed'] as const)),
    ];
    const found = await violations(evidenceOf(stage), except);
    expect(found, found.join('\n')).toEqual([]);
    await options.after?.(stage);
  } catch (error) {
    await keepEvidence(folder, stage);
    throw new Error(`seed ${seed}, evidence in ${folder}\n${timeline(history)}\n${messageOf(error)}`, {
      cause: error,
    });
  }
  await rm(folder, { recursive: true, force: true });
};

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const evidenceOf = ({ cluster, history, caller }: Stage): Evidence => ({
  query: (text, values) => cluster.query(text, values),
  history,
  async get(path) {
    const answer = await caller.call({ method: 'GET', path });
    if (answer.status !== 200) throw new Error(`GET ${path} was answered with ${answer.status}`);
    return answer;
  },
  async readLog(path) {
    const url = caller.anyUrl() ?? '';
    const request = { method: 'GET', path, headers: { 'last-event-id': '-1' } } as const;
    const { status, frames, end } = await readStream(url, request, { signal: AbortSignal.timeout(10_000) });
    if (status !== 200 || end !== 'clean') throw new Error(`GET ${path} was answered with ${status}, ${end}`);
    return frames;
  },
});

const timeline = (history: History): string => {
  const count = (op: 'run' | 'failed' | 'refused'): number => history.of(op).length;
  const faults = history
    .all()
    .flatMap((entry) => (entry.op === 'fault' ? [`  ${entry.at} ms ${entry.what}`] : []));
  const failures = history
    .of('failed')
    .map(({ what, status, detail }) => `  failed: ${what} ${status} ${detail}`);
  return [
    `${count('run')} runs, ${count('refused')} refusals, ${count('failed')} failures`,
    ...faults,
    ...failures.slice(0, 20),
  ].join('\n');
};

/** Saves the output of the nodes and the rows of every table next to the history. */
const keepEvidence = async (folder: string, { cluster }: Stage): Promise<void> => {
  for (const node of cluster.nodes) await appendFile(join(folder, `${node.name}.log`), node.output());
  const tables = await cluster.query<{ name: string }>(
    `select table_schema || '.' || table_name as name from information_schema.tables
     where table_schema in ('svc', 'faults') and table_type = 'BASE TABLE'`,
  );
  for (const { name } of tables) {
    const rows = await cluster.query<{ row: unknown }>(`select to_json(t) as row from ${name} t`);
    await writeFile(
      join(folder, `${name}.jsonl`),
      rows.map(({ row }) => `${JSON.stringify(row)}\n`).join(''),
    );
  }
};
