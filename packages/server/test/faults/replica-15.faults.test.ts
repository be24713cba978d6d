// A node with SVC_DATABASE_REPLICA_URI: a PostgreSQL 15 and a hot standby that pg_basebackup has made of it. Tests pause the replay of the
// standby, so that clients see by an answer which of the two servers was read.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { checkCompleted, type DestinationView, folderView } from '../exports/export-audit.ts';
import { statusOf } from '../exports/export-tables.ts';
import { type SvcNode, startNode } from './node-process.ts';
import { binaries15, whyNoPostgres15 } from './postgres-15.ts';
import { type ReplicaPair, startReplicaPair } from './replica-pair.ts';
import { callPlatform, type Place, TracedProject } from './traced-project.ts';
import { scaled } from '../speed.ts';

const name = 'replica-15';

let pair: ReplicaPair;
let node: SvcNode;
let place: Place;
let destination: string;
let exported: DestinationView;

const describeWithPostgres15 = (title: string, tests: () => void): void =>
  void describe.skipIf(whyNoPostgres15() !== undefined)(title, tests);

/** The lines of /metrics that begin with this text, by their labels. */
const metrics = async (text: string): Promise<Map<string, number>> => {
  const response = await fetch(`${node.url}/metrics`);
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith(text));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
};

const metric = async (line: string): Promise<number | undefined> => (await metrics(line)).get(line);

const reads = async (use: 'traces' | 'exports'): Promise<number> =>
  (await metric(`svc_replica_reads_total{use="${use}"}`)) ?? NaN;

/** Why reads have used the primary instead, with their number. */
const fallbacks = async (use: 'traces' | 'exports'): Promise<Map<string, number>> => {
  const found = await metrics(`svc_replica_fallbacks_total{use="${use}"`);
  const reasons = [...found].filter(([, count]) => count > 0);
  return new Map(reasons.map(([line, count]) => [/reason="(\w+)"/.exec(line)?.[1] ?? line, count]));
};

const untilUsed = async (): Promise<void> => {
  await pair.caughtUp();
  await eventually(async () => {
    expect(await metric('svc_replica_up')).toBe(1);
    expect(await metric('svc_replica_lag_seconds')).toBeLessThan(2);
  });
};

const newProject = async (count: number): Promise<TracedProject> => {
  const project = await TracedProject.create(place);
  await project.ingest(count);
  return project;
};

const untilCompleted = (id: string): Promise<void> =>
  eventually(async () => expect(await statusOf(pair.db, id)).toBe('COMPLETED'));

/** Resolves when the files of the export have each of its trace runs once. */
const checkExport = async (id: string, rows: number): Promise<void> => {
  await untilCompleted(id);
  expect((await checkCompleted(pair.db, exported, id)).rows).toBe(rows);
};

describeWithPostgres15('a node with a replica that pg_basebackup has made', () => {
  beforeAll(async () => {
    pair = await startReplicaPair({ binaries: binaries15 });
    const key = `svc_${randomUUID()}`;
    node = await startNode({
      name,
      databaseUri: pair.db.uri,
      env: {
        SVC_DATABASE_REPLICA_URI: pair.uriOf(),
        // Longer than a test, so that a paused replica is still read.
        SVC_DATABASE_REPLICA_LAG_MAX: '10m',
        SVC_BOOTSTRAP_API_KEY: key,
      },
      limits: { exportFileBytes: 102_400 },
    });
    place = { url: node.url, key };
    exported = folderView(join(inject('scratch'), 'nodes', name, 'exports', 'out'));
    const body = { destination_type: 'file', display_name: 'folder', config: { path: 'out' } };
    const created = await callPlatform(place, 'POST', '/v1/bulk-exports/destinations', body);
    destination = (created.body as { id: string }).id;
    await untilUsed();
  }, scaled(180_000));
  afterAll(async () => {
    await node?.[Symbol.asyncDispose]();
    await pair?.[Symbol.asyncDispose]();
  });
  afterEach(async () => {
    await pair.standby.start();
    await pair.resumeReplay();
    await untilUsed();
  });

  it('streams from its primary, and both are PostgreSQL 15', async () => {
    const standby = await pair.onStandby(
      `select current_setting('server_version_num')::integer / 10000 as major, pg_is_in_recovery() as in_recovery`,
    );
    expect(standby).toEqual([{ major: 15, in_recovery: true }]);
    const text = `select state, current_setting('server_version_num')::integer / 10000 as major from pg_stat_replication`;
    expect(await pair.db.query({ text }, [])).toEqual([{ state: 'streaming', major: 15 }]);
  });

  it('answers lists, threads and sums of traces as the replica has them, and a trace run by its id as the primary has it', async () => {
    const project = await newProject(3);
    await pair.caughtUp();
    await pair.pauseReplay();
    const [id] = await project.ingest(2);
    const before = await reads('traces');
    expect(await project.seen()).toEqual({ listed: 3, threads: 3, summed: 3 });
    expect(await reads('traces')).toBeGreaterThan(before + 2);
    expect(await callPlatform(place, 'GET', `/v1/runs/${id}`)).toMatchObject({ status: 200, body: { id } });
    await pair.resumeReplay();
    await pair.caughtUp();
    expect(await project.seen()).toEqual({ listed: 5, threads: 5, summed: 5 });
    expect(await fallbacks('traces')).toEqual(new Map());
  });

  it('reports the lag of the replica in /metrics until the replica has caught up', async () => {
    await pair.pauseReplay();
    await newProject(5);
    await eventually(async () => {
      expect(await metric('svc_replica_lag_bytes')).toBeGreaterThan(1_000);
      expect(await metric('svc_replica_lag_seconds')).toBeGreaterThan(3);
      expect(await metric('svc_replica_up')).toBe(1);
    });
    await pair.resumeReplay();
    await untilUsed();
  });

  it('exports from the replica, after the replica has replayed what the primary had at the start', async () => {
    const project = await newProject(200);
    await pair.caughtUp();
    await pair.pauseReplay();
    await project.ingest(100);
    const before = await reads('exports');
    const id = await project.export(destination);
    await eventually(async () => {
      // The exporter requests the position of the replica.
      const asking = await pair.onStandby(
        `select from pg_stat_activity where application_name = 'svc exporter' and query like '%pg_last_wal_replay_lsn%'`,
      );
      expect(asking).toHaveLength(1);
    });
    expect(await statusOf(pair.db, id)).toBe('RUNNING');
    expect(await reads('exports')).toBe(before);
    await pair.resumeReplay();
    await checkExport(id, 300);
    await eventually(async () => expect(await reads('exports')).toBeGreaterThan(before + 2));
    expect(await fallbacks('exports')).toEqual(new Map());
  });

  it('reads from the primary when the replica is stopped under load: every request succeeds, and nothing is lost', async () => {
    const project = await newProject(50);
    // After a crash, a standby accepts reads as soon as it has replayed its last checkpoint: it must contain these trace runs.
    await pair.db.script('checkpoint');
    await pair.caughtUp();
    await pair.onStandby('checkpoint');
    const load = new Load(project);
    try {
      await load.untilAnswered(20);
      await pair.standby.stop('immediate');
      await load.untilAnswered(40);
      const id = await project.export(destination);
      await untilCompleted(id);
      await checkCompleted(pair.db, exported, id);
      const { acknowledged } = project;
      expect((await project.seen()).summed).toBeGreaterThanOrEqual(acknowledged);
      await eventually(async () => expect(await metric('svc_replica_up')).toBe(0));
      expect((await fallbacks('traces')).get('unreachable')).toBeGreaterThan(20);
      await eventually(async () => expect(await fallbacks('exports')).toEqual(new Map([['unreachable', 1]])));
      await pair.standby.start();
      await untilUsed();
      const before = await reads('traces');
      await load.untilAnswered(20);
      expect(await reads('traces')).toBeGreaterThan(before + 10);
    } finally {
      await load.stop();
    }
    expect(load.errors).toEqual([]);
    await pair.caughtUp();
    expect((await project.seen()).summed).toBe(project.acknowledged);
    await checkExport(await project.export(destination), project.acknowledged);
  });
});

/** Clients that store and read trace runs without a pause. */
class Load {
  readonly errors: string[] = [];
  #answered = 0;
  #isOver = false;
  readonly #clients: Promise<unknown>;

  constructor(project: TracedProject) {
    const read = async (): Promise<void> => {
      const { listed, threads, summed } = await project.seen();
      if (Math.min(listed, threads, summed) < 50)
        throw new Error(`too few: ${listed}, ${threads}, ${summed}`);
    };
    const acts = [read, read, () => project.ingest(2)];
    this.#clients = Promise.all(acts.map((act) => this.#repeat(act)));
  }

  /** Resolves after this number of further requests. */
  async untilAnswered(count: number): Promise<void> {
    const wanted = this.#answered + count;
    await eventually(() => expect(this.#answered).toBeGreaterThanOrEqual(wanted), 120_000);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#clients;
  }

  async #repeat(act: () => Promise<unknown>): Promise<void> {
    while (!this.#isOver) {
      await act().catch((error: unknown) => this.errors.push(String(error)));
      this.#answered++;
    }
  }
}
