// Thread protocol v2 beside the REST stream of a resumable run with the same stream modes: the first event, and events per second. The three are
// measured in turns on one server, because a machine's speed drifts. A feed is open before the run that is measured. Usage: npm run bench:feeds (prints)
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StreamMode } from '@svc/contract';
import { createClient, type Client } from '@svc/sdk';
import { WebSocket } from 'ws';
import { startMeasured } from './processes.ts';
import { fixed, median } from './report.ts';

/** Milliseconds from the request of a run until its first event and until its last one, and how many events there were. */
interface Timing {
  first: number;
  last: number;
  events: number;
}

/** Starts runs on one thread and reads their events. */
interface Reader {
  run(assistant_id: string, count: number): Promise<Timing>;
  close(): void;
}

type Way = () => Promise<Reader>;

const rounds = { first: 60, flood: 30 };
const floodEvents = 3_000;

interface FeedEvent {
  type: string;
  method: string;
  params: { namespace: string[]; data: { event?: string } };
}

const isEnd = ({ method, params }: FeedEvent): boolean =>
  method === 'lifecycle' && params.namespace.length === 0 && params.data.event === 'completed';

const watch = () => {
  const started = performance.now();
  const timing = { first: 0, last: 0, events: 0 };
  return {
    timing,
    event: () => {
      const now = performance.now() - started;
      if (timing.events++ === 0) timing.first = now;
      timing.last = now;
    },
  };
};

const inputOf = (count: number): object =>
  count === 0 ? { messages: [{ role: 'user', content: 'hi' }] } : { count };

const overRest =
  (client: Client): Way =>
  async () => {
    const { thread_id } = await client.threads.create();
    return {
      run: async (assistant_id, count) => {
        const { timing, event } = watch();
        const run = {
          input: inputOf(count),
          stream_mode: ['values', 'updates', 'messages-tuple', 'custom', 'tasks', 'tools'] as StreamMode[],
          stream_resumable: true,
          stream_subgraphs: true,
        };
        for await (const _ of client.runs.stream(thread_id, assistant_id, run)) event();
        return timing;
      },
      close: () => undefined,
    };
  };

const channels = ['values', 'updates', 'messages', 'custom', 'tasks', 'tools', 'lifecycle', 'input'];

const overSse =
  (client: Client): Way =>
  async () => {
    const { thread_id } = await client.threads.create();
    const left = new AbortController();
    const feed = client.threads.events(thread_id, { channels }, { signal: left.signal });
    return {
      run: async (assistant_id, count) => {
        // The request of the feed is sent with the first call of next().
        let next = feed.next();
        const { timing, event } = watch();
        const started = client.threads.command(thread_id, 'run.start', {
          assistant_id,
          input: inputOf(count),
        });
        for (;;) {
          const { value, done } = await next;
          if (done === true) throw new Error('The feed has ended');
          event();
          if (isEnd(value.data as FeedEvent)) break;
          next = feed.next();
        }
        await started;
        return timing;
      },
      close: () => left.abort(),
    };
  };

const overSocket =
  (client: Client, url: string): Way =>
  async () => {
    const { thread_id } = await client.threads.create();
    const ws = new WebSocket(`${url.replace('http:', 'ws:')}/threads/${thread_id}/stream/events`);
    await once(ws, 'open');
    ws.send(JSON.stringify({ id: 1, method: 'subscription.subscribe', params: { channels } }));
    await once(ws, 'message');
    let id = 1;
    return {
      run: async (assistant_id, count) => {
        const { timing, event } = watch();
        ws.send(
          JSON.stringify({ id: ++id, method: 'run.start', params: { assistant_id, input: inputOf(count) } }),
        );
        await new Promise<void>((resolve) => {
          const take = (data: Buffer): void => {
            const message = JSON.parse(data.toString()) as FeedEvent;
            if (message.type !== 'event') return;
            event();
            if (!isEnd(message)) return;
            ws.off('message', take);
            resolve();
          };
          ws.on('message', take);
        });
        return timing;
      },
      close: () => ws.close(),
    };
  };

/** Measures a run on a thread that has had one: by then a feed is open. */
const measure = async (way: Way, assistant_id: string, count: number): Promise<Timing> => {
  const reader = await way();
  await reader.run('one-node', 0);
  const timing = await reader.run(assistant_id, count);
  reader.close();
  return timing;
};

const inTurns = async (
  ways: Record<string, Way>,
  count: number,
  work: (way: Way) => Promise<Timing>,
): Promise<Map<string, Timing[]>> => {
  const timings = new Map(Object.keys(ways).map((name) => [name, [] as Timing[]]));
  // The first tenth warms up.
  const warmUp = Math.ceil(count / 10);
  for (let round = -warmUp; round < count; round++)
    for (const [name, way] of Object.entries(ways)) {
      const timing = await work(way);
      if (round >= 0) timings.get(name)?.push(timing);
    }
  return timings;
};

const print = (what: string, timings: Map<string, Timing[]>, figure: (timing: Timing) => number): void => {
  const base = median((timings.get('REST') ?? []).map(figure));
  for (const [name, all] of timings) {
    const value = median(all.map(figure));
    process.stdout.write(`${what}, ${name}: ${fixed(value)} (${fixed(value / base)} of REST)\n`);
  }
};

const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-feeds-'));
const server = await startMeasured(dataDir);
try {
  const client = createClient({ apiUrl: server.url });
  const ways = {
    REST: overRest(client),
    'v2 over SSE': overSse(client),
    'v2 over a WebSocket': overSocket(client, server.url),
  };
  const first = await inTurns(ways, rounds.first, (way) => measure(way, 'one-node', 0));
  print('first event, ms', first, (timing) => timing.first);
  print('whole run of one node, ms', first, (timing) => timing.last);
  const flood = await inTurns(ways, rounds.flood, (way) => measure(way, 'flood', floodEvents));
  print('events of 1 KB per second', flood, ({ events, last }) => (events / last) * 1_000);
} finally {
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
