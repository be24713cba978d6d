// The engine alone, this server from the build with its default settings, and the development server of @langchain/langgraph-cli, one after
// the other in one session.
//
// npm run build && npm run bench:compare -- [--peer folder] [--only part]
//   --peer  a folder in which @langchain/langgraph-cli is installed
//   --only  part of a name of what is measured, such as `threads`; the rest is left out
import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Figures, runs, states, threads } from './compared-requests.ts';
import { besideSpinners, pacedStreams, tokenStreams } from './compared-streams.ts';
import { searches } from './compared-searches.ts';
import { fixed } from './report.ts';
import { startPeer, startSvc, type Target } from './targets.ts';

const { peer: folder, only = '' } = parseArgs({
  options: { peer: { type: 'string' }, only: { type: 'string' } },
}).values;

const note = (text: string): void => void process.stderr.write(`${text}\n`);

const engine = (): Figures => {
  const file = fileURLToPath(new URL('./bare-engine.ts', import.meta.url));
  const {
    p50Ms = 0,
    pacedMs = 0,
    pacedCpuMs = 0,
    cpuMsPerRun = 0,
    runsPerSecond = 0,
    interruptMs = 0,
    resumeMs = 0,
  } = JSON.parse(execFileSync(process.execPath, ['--import', 'tsx', file]).toString()) as Figures;
  return {
    waitMs: p50Ms,
    laterMs: pacedMs,
    laterCpu: pacedCpuMs,
    waitsCpu: cpuMsPerRun,
    waits: runsPerSecond,
    interruptMs,
    resumeMs,
  };
};

/** The development server executes ten runs at a time and looks for new ones twice a second. */
const measure = async (target: Target, isPeer: boolean): Promise<Figures> => {
  const parts: [string, () => Promise<Figures>][] = [
    ['runs', () => runs(target, isPeer ? 0.04 : 1)],
    ['threads', () => threads(target)],
    ['states', () => states(target, isPeer ? 60 : 200)],
    ['paced streams', () => pacedStreams(target, isPeer ? [16, 64] : [16, 64, 256])],
    ['streams of tokens', () => tokenStreams(target, isPeer ? 10 : 60)],
    ['streams beside CPU-bound runs', async () => (isPeer ? {} : await besideSpinners(target))],
    ['searches', () => searches(target)],
  ];
  const figures: Figures = {};
  for (const [name, part] of parts.filter(([name]) => name.includes(only))) {
    const found = await part();
    note(`${name}: ${JSON.stringify(found)}`);
    Object.assign(figures, found);
  }
  return figures;
};

const rows: [what: string, figure: string][] = [
  ['`runs/wait`, 32 clients, runs/s', 'waits'],
  ['CPU per such run, ms', 'waitsCpu'],
  ['`runs/wait`, 1 client, p50 ms', 'waitMs'],
  ['CPU per such run, ms', 'waitCpu'],
  ['`runs/wait`, 1 client, after the runs of the 32; the engine with 7 ms between runs; p50 ms', 'laterMs'],
  ['CPU per such run, ms', 'laterCpu'],
  ['run until an interrupt, p50 ms', 'interruptMs'],
  ['run that answers it, p50 ms', 'resumeMs'],
  ['thread get, 32 clients, requests/s', 'gets'],
  ['CPU per such request, ms', 'getsCpu'],
  ['thread get, 1 client, p50 ms', 'getMs'],
  ['thread create, 32 clients, requests/s', 'creates'],
  ['CPU per such request, ms', 'createCpu'],
  ['update of a state, p50 ms', 'updateMs'],
  ['CPU per such request, ms', 'updateCpu'],
  ['state of a long thread, p50 ms', 'stateMs'],
  ['history of a long thread, limit 10, p50 ms', 'historyMs'],
  ['16 streams of a second, an event each 20 ms: first event, p50 ms', 'paced16Ms'],
  ['64 such streams', 'paced64Ms'],
  ['256 such streams', 'paced256Ms'],
  ['200 tokens without pauses, 1 stream: first event, p50 ms', 'tokens1Ms'],
  ['16 such streams', 'tokens16Ms'],
  ['64 such streams', 'tokens64Ms'],
  ['16 such streams, events/s', 'tokensPerSecond'],
  ['50 waiting streams beside 4 CPU-bound runs of another graph: first event, p50 ms', 'besideP50Ms'],
  ['the same, p99 ms', 'besideP99Ms'],
  ['the same, the first time', 'besideFirstMs'],
  ['newest 10 threads, 1,000 threads, p50 ms', 'newest1000Ms'],
  ['newest 10 threads, 200,000 threads', 'newest200000Ms'],
  ['newest 10 threads, 1,000,000 threads', 'newest1000000Ms'],
  ['10 threads by status, 1,000 threads, p50 ms', 'status1000Ms'],
  ['10 threads by status, 200,000 threads', 'status200000Ms'],
  ['10 threads by status, 1,000,000 threads', 'status1000000Ms'],
  ['10 threads at offset 10,000, 1,000,000 threads', 'offset1000000Ms'],
  ['10 threads by a cursor behind the first 100,001, 1,000,000 threads', 'cursor1000000Ms'],
];

const columns: Record<string, Figures> = { engine: engine() };
{
  await using target = await startSvc();
  columns['svc'] = await measure(target, false);
}
if (folder !== undefined) {
  await using target = await startPeer(resolve(folder));
  columns['development server'] = await measure(target, true);
}
const names = Object.keys(columns);
const line = (cells: string[]): string => `| ${cells.join(' | ')} |\n`;
process.stdout.write(line(['what', ...names]) + line(['---', ...names.map(() => '---')]));
for (const [what, figure] of rows) {
  if (names.every((name) => columns[name]?.[figure] === undefined)) continue;
  const cells = names.map((name) => {
    const value = columns[name]?.[figure];
    return value === undefined ? '' : fixed(value, value >= 100 ? 0 : 2);
  });
  process.stdout.write(line([what, ...cells]));
}
