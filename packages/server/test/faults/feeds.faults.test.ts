// Feeds of thread protocol v2: readers are disconnected while workers are killed.
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { nthRunEnd, readFeed, seenLater } from '../thread-protocol/feed.ts';
import type { Cluster } from './cluster.ts';
import { FeedReader } from './feed-reader.ts';
import { asLogged, loggedEvents } from './logged-events.ts';
import { busyNodes } from './journal-run.ts';
import { rounds, runScenario, type Stage } from './scenario.ts';
import { openSplitCluster, workers } from './split-cluster.ts';
import { fixture } from '../fixture.ts';

const threads = 4;
/** With which a thread begins. */
const runsOfThread = 2;
const readersOfThread = 5;
const steps = 25;
/** Of each thread: connections that are closed before its last run has ended. With more rounds, most are closed later. */
const earlyMin = 5 * readersOfThread;

const opened = fixture(() => openSplitCluster());
let cluster: Cluster;
beforeAll(async () => {
  ({ cluster } = opened);
});

/** A thread, its readers and the number of its runs, which grows until the readers have been disconnected often enough. */
interface ThreadReaders {
  id: string;
  readers: FeedReader[];
  runs: number;
}

/** Starts a run by a command; the thread queues it. */
const startRun = async ({ caller, history, file }: Stage, thread_id: string): Promise<void> => {
  const marker = randomUUID().slice(0, 8);
  const answer = await caller.call({
    method: 'POST',
    path: `/threads/${thread_id}/commands`,
    headers: { 'idempotency-key': marker },
    body: {
      id: 1,
      method: 'run.start',
      params: {
        assistant_id: 'journal',
        input: { marker, steps, ms: 60, taken: 0, file },
        metadata: { marker, steps },
        config: { recursion_limit: 1_000 },
      },
    },
  });
  const { result } = answer.body as { result?: { run_id: string } };
  if (result === undefined) throw new Error(`The run was not started: ${JSON.stringify(answer.body)}`);
  history.add({ op: 'run', thread_id, run_id: result.run_id, marker, steps, strategy: 'enqueue' });
};

/** A worker that executes a run now; any worker if none does. */
const busyWorker = async (stage: Stage): Promise<string> => {
  const busy = await busyNodes(stage);
  return stage.random.pick(busy.length > 0 ? busy : Object.keys(workers));
};

const isReadEnough = ({ readers }: ThreadReaders): boolean =>
  readers.flatMap(({ disconnectedAt }) => disconnectedAt).length > earlyMin;

/** Starts runs, so that one is in flight until readers have been disconnected often enough. The last one begins after that. */
const keepRunning = async (stage: Stage, read: ThreadReaders): Promise<void> => {
  let isEnough = false;
  while (!isEnough) {
    await eventually(async () => {
      const left = await stage.cluster.query(
        `select 1 from runs where thread_id = $1 and status in ('pending', 'running')`,
        [read.id],
      );
      expect(left.length).toBeLessThan(2);
    }, 120_000);
    isEnough = isReadEnough(read);
    await startRun(stage, read.id);
    read.runs++;
  }
};

it(
  '200 disconnects of readers while workers are killed: each reader gets exactly the events of the log, in order',
  async () => {
    const disconnects = 10 * rounds;
    await runScenario({
      cluster,
      async faults(stage) {
        const { random, note, sleep } = stage;
        const ids = Array.from({ length: threads }, () => randomUUID());
        for (const id of ids) for (let run = 0; run < runsOfThread; run++) await startRun(stage, id);
        const urls = stage.cluster.urls();
        const threadReaders = ids.map((id): ThreadReaders => ({
          id,
          readers: Array.from({ length: readersOfThread }, () => new FeedReader(id, urls, random.fork())),
          runs: runsOfThread,
        }));
        let isRead = false;
        const kills = async (): Promise<void> => {
          do {
            await sleep(random.between(500, 2_000));
            // One worker may have them all.
            const name = await busyWorker(stage);
            note(`kill ${name}`);
            await stage.cluster.node(name).kill();
            await stage.cluster.add(name);
          } while (!isRead);
        };
        const killed = kills();
        const reads = threadReaders.map(async (read) => {
          const running = keepRunning(stage, read);
          const readingOn = read.readers.map(async (reader) => {
            for (let at = 0; at < disconnects || !isReadEnough(read); at++) await reader.glance(read.runs);
            await running;
            await reader.readOn(read.runs);
          });
          await Promise.all([running, ...readingOn]);
        });
        try {
          await Promise.all(reads);
        } finally {
          isRead = true;
          await killed;
        }
        const [claims] = await stage.cluster.query<{ count: number }>(
          'select count(*)::int as count from faults.claims where run_id in (select run_id from runs where thread_id = any ($1::uuid[]))',
          [ids],
        );
        expect(claims?.count).toBeGreaterThan(threadReaders.reduce((sum, { runs }) => sum + runs, 0));
        for (const { id: thread_id, readers: own, runs } of threadReaders) {
          const [last] = await stage.cluster.query<{ ms: number; complete: number }>(
            `select extract(epoch from max(updated_at))::float8 * 1000 as ms, count(*) filter (where status = 'success')::int as complete
             from runs where thread_id = $1`,
            [thread_id],
          );
          const early = own
            .flatMap(({ disconnectedAt }) => disconnectedAt)
            .filter((at) => at < (last?.ms ?? 0));
          note(`${early.length} disconnects before the end of ${thread_id}`);
          expect(early.length).toBeGreaterThan(earlyMin);
          const logged = await loggedEvents(stage.cluster, thread_id);
          // A run ends with an error when it loses three workers without storing a step in between.
          const updates = logged.filter(({ method }) => method === 'updates').length;
          expect(updates).toBeGreaterThanOrEqual((last?.complete ?? 0) * steps);
          expect(updates).toBeLessThanOrEqual(runs * steps);
          const all = await readFeed(random.pick(urls), thread_id, nthRunEnd(runs));
          expect(new Set(all.map(({ event_id }) => event_id)).size).toBe(all.length);
          for (const { events } of own) {
            // Whether a reader gets the end of a run that another one follows depends on where it was disconnected.
            expect(seenLater(events)).toEqual(all);
            expect(asLogged(events)).toEqual(logged);
          }
        }
      },
    });
  },
  300_000 * rounds,
);
