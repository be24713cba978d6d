// Streams: when the first event arrives, and how many events per second.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Figures, timed } from './compared-requests.ts';
import { median, percentile } from './report.ts';
import type { Target } from './targets.ts';

const userMessage = { messages: [{ role: 'user', content: 'hi' }] };

interface Stream {
  firstMs: number;
  lastMs: number;
  events: number;
}

/** The first event that the graph emits counts; `metadata` comes before it. */
const read = async ({ client }: Target, graph: string, input: object, mode: 'custom' | 'messages-tuple') => {
  const started = performance.now();
  const stream: Stream = { firstMs: 0, lastMs: 0, events: 0 };
  for await (const { event } of client.runs.stream(null, graph, { input, stream_mode: mode })) {
    if (!event.startsWith('custom') && !event.startsWith('messages')) continue;
    stream.lastMs = performance.now() - started;
    if (stream.events++ === 0) stream.firstMs = stream.lastMs;
  }
  if (stream.events === 0) throw new Error(`${graph} emitted nothing`);
  return stream;
};

const paced = (target: Target) => read(target, 'clock', { count: 50 }, 'custom');
const flowing = (target: Target) => read(target, 'tokens', userMessage, 'messages-tuple');

const atOnce = (count: number, one: () => Promise<Stream>): Promise<Stream[]> =>
  Promise.all(Array.from({ length: count }, one));

const firsts = (streams: Stream[]): number[] => streams.map(({ firstMs }) => firstMs);

/** Streams of a second, an event each 20 ms. */
export const pacedStreams = async (target: Target, counts: number[]): Promise<Figures> => {
  const figures: Figures = {};
  await atOnce(4, () => paced(target));
  for (const count of counts) {
    const all = firsts([
      ...(await atOnce(count, () => paced(target))),
      ...(await atOnce(count, () => paced(target))),
    ]);
    figures[`paced${count}Ms`] = median(all);
  }
  return figures;
};

/** Streams of 200 tokens without pauses. `rounds`: how often one stream is measured alone. */
export const tokenStreams = async (target: Target, rounds: number): Promise<Figures> => {
  await atOnce(16, () => flowing(target));
  const alone: Stream[] = [];
  for (let at = 0; at < rounds; at++) alone.push(await flowing(target));
  const sixteen: Stream[] = [];
  let events = 0;
  const ms = await timed(async () => {
    for (let round = 0; round < 4; round++) sixteen.push(...(await atOnce(16, () => flowing(target))));
  });
  for (const stream of sixteen) events += stream.events;
  const many = [...(await atOnce(64, () => flowing(target))), ...(await atOnce(64, () => flowing(target)))];
  return {
    tokens1Ms: median(firsts(alone)),
    tokens16Ms: median(firsts(sixteen)),
    tokens64Ms: median(firsts(many)),
    tokensPerSecond: (events * 1_000) / ms,
  };
};

/** Streams that wait, beside runs that use all cores: the first time, when the server does not know yet which runs these are, and later. */
export const besideSpinners = async (target: Target): Promise<Figures> => {
  const rounds: number[][] = [];
  for (let round = 0; round < 6; round++) {
    const spinning = Array.from({ length: 4 }, () =>
      target.client.runs.wait(null, 'spinner', { input: { count: 4_000 } }),
    );
    await sleep(500);
    rounds.push(firsts(await atOnce(50, () => paced(target))));
    await Promise.all(spinning);
  }
  const [first = [], ...later] = rounds;
  return {
    besideFirstMs: percentile(first, 0.99),
    besideP50Ms: median(later.flat()),
    besideP99Ms: percentile(later.flat(), 0.99),
  };
};
