// Python graphs: the engine alone, this server, the stock server in memory, and Aegra, in turns in one session.
//
// scripts/install-test-programs.sh python-stock && npm run bench:python -- [--aegra folder] [--environment folder] [--rounds 3] [--only part]
//   --environment  a Python environment with langgraph-cli[inmem]; the engine alone and svc use its interpreter too
//   --aegra        a Python environment with aegra-api; without it, Aegra is left out
//   --only         part of a name of what is measured, such as `turn`
// Other programs use the machine as well: the ratios of a round count, and of rows with CPU more than of those with time.
import { mkdtempSync, rmSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import {
  type PythonTarget,
  startAegra,
  startEngine,
  startStock,
  startSvc,
  type Work,
} from './python-targets.ts';
import { fixed, median } from './report.ts';

const { values: flags } = parseArgs({
  options: {
    environment: { type: 'string', default: 'build/python-stock' },
    aegra: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
    starts: { type: 'string', default: '3' },
  },
});
const environment = resolve(flags.environment);
const rounds = Number(flags.rounds);
const ports = { stock: 20_241, aegra: 20_242 };
const waitMs = 5_000;
const longThread = 400;

/** Figures of one round by the name of their row. */
type Figures = Record<string, number>;

const note = (text: string): void => void process.stderr.write(`${text}\n`);

const said = (content: string) => ({ messages: [{ role: 'user', content }] });

const runs = async (target: PythonTarget, graph: string, count: number): Promise<Figures> => {
  const work: Work = { graph, input: said('hello'), count, clients: 32, streams: false };
  const { tookMs, cpuMs } = await target.measure(work);
  return {
    [`${graph}, 32 clients, runs/s`]: (count * 1_000) / tookMs,
    [`${graph}, 32 clients, CPU per run, ms`]: cpuMs / count,
  };
};

const firstToken = async (target: PythonTarget): Promise<Figures> => {
  const work: Work = { graph: 'speaker', input: said('hello'), count: 20, clients: 1, streams: true };
  const { ms, cpuMs } = await target.measure(work);
  return {
    'first of 50 tokens, 1 client, p50 ms': median(ms),
    'CPU per such run, ms': cpuMs / work.count,
  };
};

const waiting = async (target: PythonTarget): Promise<Figures> => {
  const clients = 64;
  const { tookMs } = await target.measure({
    graph: 'waiter',
    input: { ms: waitMs },
    count: clients,
    clients,
    streams: false,
  });
  return { '64 agents that wait 5 s, share of the possible': waitMs / tookMs };
};

/** Turns on a thread of 400 messages, which each add two. */
const turns = async (target: PythonTarget): Promise<Figures> => {
  const thread = randomUUID();
  const texts = Array.from({ length: longThread - 1 }, (_, at) => `${at} ${'x'.repeat(600)}`);
  const messages = texts.map((content, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content }));
  const turn = { graph: 'one-node', thread, clients: 1, streams: false };
  await target.measure({ ...turn, input: { messages }, count: 1 });
  const { ms, cpuMs } = await target.measure({ ...turn, input: said('hello'), count: 20 });
  return {
    'turn on a thread of 400 messages, p50 ms': median(ms),
    'CPU per such turn, ms': cpuMs / ms.length,
  };
};

const parts: [string, (target: PythonTarget) => Promise<Figures>][] = [
  ['one-node', (target) => runs(target, 'one-node', 640)],
  ['chain', (target) => runs(target, 'chain', 320)],
  ['first token', firstToken],
  ['waiting', waiting],
  ['turn', turns],
];

const names = ['engine', 'svc', 'stock server', ...(flags.aegra === undefined ? [] : ['Aegra'])];
const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-'));

/** Starts all, svc first: Aegra uses its PostgreSQL. */
const startAll = async (): Promise<PythonTarget[]> => {
  const svc = await startSvc(environment, dataDir);
  const started = [
    await startEngine(environment),
    svc,
    await startStock(environment, ports.stock),
    ...(flags.aegra === undefined
      ? []
      : [
          await startAegra(resolve(flags.aegra), {
            port: ports.aegra,
            dataDir,
            postmaster: svc.postmaster,
          }),
        ]),
  ];
  return started;
};

/** In the opposite order, since the database stops last. */
const stopAll = async (all: PythonTarget[]): Promise<void> => {
  for (const one of [...all].filter((_, at) => at !== 1)) await one[Symbol.asyncDispose]();
  await all[1]?.[Symbol.asyncDispose]();
};

/** By target, of all rounds. */
const found: Figures[][] = names.map(() => []);
const starts: number[][] = names.map(() => []);
let all = await startAll(); // creates the databases
for (let round = 0; round < Number(flags.starts); round++) {
  await stopAll(all);
  all = await startAll();
  for (const [at, { startMs }] of all.entries()) starts[at]?.push(startMs);
}
const idle = all.map((one) => one.memoryMb());
const chosen = parts.filter(([name]) => name.includes(flags.only));
try {
  for (const [at, one] of all.entries())
    note(`warm-up, ${names[at]}: ${JSON.stringify(await runs(one, 'one-node', 640))}`);
  for (let round = 0; round < rounds; round++) {
    const figures = names.map((): Figures => ({}));
    for (const [name, part] of chosen)
      for (const [at, one] of all.entries()) {
        Object.assign(figures[at] ?? {}, await part(one));
        note(`round ${round + 1}, ${name}, ${names[at]}: ${JSON.stringify(figures[at])}`);
      }
    for (const [at, of] of figures.entries()) found[at]?.push(of);
  }
  const busy = all.map((one) => one.memoryMb());
  print(idle, busy);
} finally {
  await stopAll(all);
  rmSync(dataDir, { recursive: true, force: true });
}

type Memory = ReturnType<PythonTarget['memoryMb']>;

function print(before: Memory[], after: Memory[]): void {
  const line = (cells: string[]): void => void process.stdout.write(`| ${cells.join(' | ')} |\n`);
  const number = (value: number): string => fixed(value, value >= 100 ? 0 : value >= 10 ? 1 : 2);
  line(['what', ...names]);
  line(['---', ...names.map(() => '---')]);
  for (const row of Object.keys(found[0]?.[0] ?? {}))
    line([row, ...names.map((_, at) => cell(at, row, number))]);
  line(['start to the first response, ms', ...starts.map((ms) => number(median(ms)))]);
  line(['memory of what executes graphs, idle, MB', ...before.map(({ executors }) => number(executors))]);
  line(['the same, after the runs', ...after.map(({ executors }) => number(executors))]);
  line(['memory of all processes, after the runs, MB', ...after.map(({ all }) => number(all))]);
}

/** The median, and the median of the ratios to the engine in the same round. */
function cell(at: number, row: string, number: (value: number) => string): string {
  const own = found[at]?.map((figures) => figures[row] ?? 0) ?? [];
  const engine = found[0]?.map((figures) => figures[row] ?? 0) ?? [];
  const ratio = median(own.map((value, round) => value / (engine[round] ?? 1)));
  return at === 0 ? number(median(own)) : `${number(median(own))}, ${fixed(ratio)}x`;
}
