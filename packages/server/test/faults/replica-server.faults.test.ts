// A server with a replica, seen by its clients and by Prometheus.
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startTestServer } from '../server.ts';
import { startReplicaPair } from './replica-pair.ts';
import { openProxy } from './tcp-proxy.ts';
import { fixture } from '../fixture.ts';

const key = `test-${randomBytes(16).toString('hex')}`;

const pair = fixture(() => startReplicaPair());
const proxy = fixture(() => openProxy({ host: '127.0.0.1', port: pair.standby.port }));
const server = fixture(() =>
  startTestServer({
    database: pair.db,
    settings: {
      bootstrapApiKey: key,
      bootstrapWorkspaceId: randomUUID(),
      databaseReplicaUri: pair.uriOf(proxy.port),
      databaseReplicaLagMax: '2s',
    },
  }),
);
beforeAll(async () => {
  await eventually(async () => expect(await metric('svc_replica_up')).toBe(1));
});
afterEach(async () => {
  await pair.standby.start();
  await pair.resumeReplay();
});

const metric = async (name: string, labels = ''): Promise<number> => {
  const { body } = await server.call('GET', '/metrics');
  const line = String(body)
    .split('\n')
    .find((each) => each.startsWith(`${name}${labels} `));
  return Number(line?.split(' ').at(-1));
};

const replicaReads = (): Promise<number> => metric('svc_replica_reads_total', '{use="traces"}');

const fallbacks = (reason: string): Promise<number> =>
  metric('svc_replica_fallbacks_total', `{use="traces",reason="${reason}"}`);

const call = (method: string, path: string, body: unknown) =>
  server.call(method, `/api/v1${path}`, body, { 'x-api-key': key });

/** Stores trace runs of a new project. Returns its name. */
const ingest = async (count: number): Promise<string> => {
  const project = `p-${randomUUID()}`;
  const post = Array.from({ length: count }, (_, index) => {
    const id = randomUUID();
    const start_time = new Date(Date.now() - index * 1_000).toISOString();
    return {
      id,
      trace_id: id,
      name: `run ${index}`,
      run_type: 'chain',
      start_time,
      session_name: project,
      inputs: {},
    };
  });
  expect((await call('POST', '/runs/batch', { post })).status).toBe(202);
  return project;
};

const projectId = async (name: string): Promise<string> => {
  const { body } = await server.call('GET', `/api/v1/sessions?name=${name}`, undefined, { 'x-api-key': key });
  return (body as { id: string }[])[0]!.id;
};

describe('a server with a replica', () => {
  it('reads lists and sums of traces from it, and reports that with its lag', async () => {
    const project = await ingest(5);
    const session = [await projectId(project)];
    await pair.caughtUp();
    const before = await replicaReads();
    const { body } = await call('POST', '/runs/query', { session });
    expect((body as { runs: unknown[] }).runs).toHaveLength(5);
    const stats = await call('POST', '/runs/stats', { session });
    expect(stats.body).toMatchObject({ run_count: 5 });
    expect(await replicaReads()).toBeGreaterThan(before);
    expect(await metric('svc_replica_lag_seconds')).toBeLessThan(2);
    await pair.pauseReplay();
    await ingest(5);
    await eventually(async () => {
      expect(await metric('svc_replica_lag_bytes')).toBeGreaterThan(1_000);
      expect(await metric('svc_replica_lag_seconds')).toBeGreaterThan(2);
    });
  });

  it('reads a trace run by its id from the primary, as soon as it is stored', async () => {
    await pair.pauseReplay();
    const id = randomUUID();
    const post = [{ id, trace_id: id, name: 'new', run_type: 'chain', start_time: new Date().toISOString() }];
    expect((await call('POST', '/runs/batch', { post })).status).toBe(202);
    expect((await call('GET', `/runs/${id}`, undefined)).body).toMatchObject({ id, name: 'new' });
  });

  it('answers every read when the replica is killed under load, and uses it again after its restart', async () => {
    await underLoad({
      fail: () => pair.standby.stop('immediate'),
      recover: () => pair.standby.start(),
    });
  });

  it('answers every read when the replica does not answer any more, and uses it again when it does', async () => {
    await underLoad({ fail: () => proxy.blackhole(), recover: () => proxy.pass() });
  });
});

/** Reads per phase. */
const readsMin = process.env['SVC_TEST_FIGURES'] === undefined ? 50 : 250;

/** No read may fail while the replica fails and recovers under load. */
const underLoad = async ({
  fail,
  recover,
}: {
  fail: () => Promise<void> | void;
  recover: () => Promise<void> | void;
}): Promise<void> => {
  const project = await ingest(50);
  const session = [await projectId(project)];
  await pair.caughtUp();
  await eventually(async () => expect(await metric('svc_replica_lag_seconds')).toBeLessThan(1.5));
  const load = new ReadLoad(session, 4);
  const phase = async (name: string, work: () => Promise<void> | void): Promise<void> => {
    load.mark(name);
    await work();
    const before = load.answered;
    await eventually(() => expect(load.answered - before).toBeGreaterThan(readsMin), 120_000);
  };
  try {
    await phase('replica', () => undefined);
    const before = await fallbacks('unreachable');
    await phase('fails', fail);
    expect(await fallbacks('unreachable')).toBeGreaterThan(before + readsMin / 2);
    await phase('recovers', recover);
    // The server connects to the replica again after a pause, however many reads the primary answers until then.
    await eventually(async () => expect(await metric('svc_replica_up')).toBe(1));
    const reads = await replicaReads();
    await phase('recovered', () => undefined);
    await eventually(async () => expect(await replicaReads()).toBeGreaterThan(reads + readsMin / 2));
  } finally {
    await load.stop();
  }
  expect(load.errors).toEqual([]);
  // For docs/database.md.
  if (process.env['SVC_TEST_FIGURES'] !== undefined) {
    const text = String((await server.call('GET', '/metrics')).body);
    const counts = text.split('\n').filter((line) => /^svc_replica_.*traces.* [1-9]/.test(line));
    process.stdout.write(
      `${load
        .figures()
        .map((figures) => JSON.stringify(figures))
        .join('\n')}\n${counts.join('\n')}\n`,
    );
  }
};

/** Clients that query the same traces without a pause. */
class ReadLoad {
  readonly errors: string[] = [];
  readonly #samples: { atMs: number; tookMs: number }[] = [];
  readonly #marks: { name: string; atMs: number }[] = [];
  readonly #over = new AbortController();
  readonly #clients: Promise<unknown>;

  constructor(session: string[], clients: number) {
    this.#clients = Promise.all(Array.from({ length: clients }, () => this.#run(session)));
  }

  get answered(): number {
    return this.#samples.length;
  }

  /** Begins a phase. */
  mark(name: string): void {
    this.#marks.push({ name, atMs: performance.now() });
  }

  async stop(): Promise<void> {
    this.#over.abort();
    await this.#clients;
  }

  /** By phase: milliseconds of reads, and the longest time without an answer. */
  figures(): object[] {
    const marks = [...this.#marks, { name: 'end', atMs: Infinity }];
    return marks.slice(0, -1).map(({ name, atMs }, index) => {
      const untilMs = marks[index + 1]!.atMs;
      const within = this.#samples.filter((sample) => sample.atMs >= atMs && sample.atMs < untilMs);
      const tookMs = within.map((sample) => sample.tookMs).toSorted((one, other) => one - other);
      const gapMs = Math.max(...within.map((sample, at) => sample.atMs - (within[at - 1]?.atMs ?? atMs)));
      const part = (share: number): number =>
        Math.round(tookMs[Math.floor(share * (tookMs.length - 1))] ?? 0);
      return {
        name,
        reads: within.length,
        p50: part(0.5),
        p99: part(0.99),
        max: part(1),
        gap: Math.round(gapMs),
      };
    });
  }

  async #run(session: string[]): Promise<void> {
    while (!this.#over.signal.aborted) {
      const startedMs = performance.now();
      const { status, body } = await call('POST', '/runs/query', { session, limit: 10 });
      const found = (body as { runs?: unknown[] }).runs?.length;
      if (status !== 200 || found !== 10) this.errors.push(`${status} ${found}`);
      const atMs = performance.now();
      this.#samples.push({ atMs, tookMs: atMs - startedMs });
      await sleep(1);
    }
  }
}
