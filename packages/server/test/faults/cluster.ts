// Any number of svc processes on one database, each behind a network proxy of its own; without proxies when the database has several hosts.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { audit } from './audit.ts';
import { queryOnce, type ClusterPostgres } from './postgres.ts';
import { startNode, type Release, type Role, type SvcNode } from './node-process.ts';
import { openProxy, type TcpProxy } from './tcp-proxy.ts';

const totalMs = 90_000;

export interface Member {
  role?: Role;
  executors?: number;
  release?: Release;
  env?: Record<string, string>;
}

export class Cluster implements AsyncDisposable {
  readonly postgres: ClusterPostgres;
  readonly database: string;
  readonly #members = new Map<string, Member>();
  readonly #nodes = new Map<string, SvcNode>();
  readonly #proxies = new Map<string, TcpProxy>();

  private constructor(postgres: ClusterPostgres, database: string) {
    this.postgres = postgres;
    this.database = database;
  }

  static async open(postgres: ClusterPostgres, members: Record<string, Member>): Promise<Cluster> {
    const cluster = new Cluster(postgres, await postgres.createDatabase());
    try {
      await cluster.query(audit);
      await Promise.all(Object.entries(members).map(([name, member]) => cluster.add(name, member)));
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
    return cluster;
  }

  /** Starts a node; with a known name it restarts the node with its earlier options. */
  async add(name: string, given?: Member): Promise<SvcNode> {
    const member = given ?? this.#members.get(name) ?? {};
    this.#members.set(name, member);
    const hosts = this.postgres.hosts ?? `127.0.0.1:${await this.#proxyPort(name)}`;
    const databaseUri = `postgresql://svc@${hosts}/${this.database}?application_name=${name}`;
    const node = await startNode({ ...member, name, databaseUri });
    this.#nodes.set(name, node);
    return node;
  }

  async #proxyPort(name: string): Promise<number> {
    let proxy = this.#proxies.get(name);
    if (!proxy) {
      const { port } = await this.postgres.connection(this.database);
      proxy = await openProxy({ host: '127.0.0.1', port: port! });
      this.#proxies.set(name, proxy);
    }
    return proxy.port;
  }

  node(name: string): SvcNode {
    const node = this.#nodes.get(name);
    if (!node) throw new Error(`There is no node ${name}`);
    return node;
  }

  /** The network between a node and PostgreSQL. */
  network(name: string): TcpProxy {
    const proxy = this.#proxies.get(name);
    if (!proxy) throw new Error(`There is no node ${name}`);
    return proxy;
  }

  get nodes(): SvcNode[] {
    return [...this.#nodes.values()];
  }

  /** The URLs of running nodes that serve clients. */
  urls(): string[] {
    return this.nodes.filter((node) => node.isRunning() && node.role !== 'worker').map((node) => node.url);
  }

  /** Queries PostgreSQL directly, as soon as it is up. A query may be sent twice, so it must be idempotent. */
  async query<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
    const session = { application_name: 'observer', options: '-c search_path=svc -c timezone=UTC' };
    const deadline = performance.now() + totalMs;
    for (;;) {
      try {
        const connection = await this.postgres.connection(this.database);
        return await queryOnce<Row>({ ...connection, ...session }, text, values);
      } catch (error) {
        const isAway = !(error instanceof pg.DatabaseError) || error.severity === 'FATAL';
        if (!isAway || performance.now() > deadline) throw error;
        await sleep(50);
      }
    }
  }

  /** Ends all faults: repairs networks, starts PostgreSQL, thaws frozen nodes, restarts dead nodes. */
  async heal(): Promise<void> {
    for (const proxy of this.#proxies.values()) proxy.pass();
    await this.postgres.start();
    await Promise.all(
      this.nodes.map(async (node) => {
        node.thaw();
        if (!node.isRunning()) await this.add(node.name);
      }),
    );
  }

  /** Waits until no run is pending or running; runs that still are after `ms` are reported by the invariants. */
  async drain(ms: number): Promise<void> {
    const deadline = performance.now() + ms;
    while (performance.now() < deadline) {
      const left = await this.query(`select 1 from runs where status in ('pending', 'running') limit 1`);
      if (left.length === 0) return;
      await sleep(100);
    }
  }

  /** Deletes all threads and runs, for the next scenario on the same nodes. */
  async clear(): Promise<void> {
    const tables = await this.query<{ name: string }>(
      // Traces are not part of these scenarios, and refer to runs of other servers too.
      `select distinct c.table_schema || '.' || c.table_name as name
       from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
       where c.table_schema in ('svc', 'faults') and c.column_name in ('thread_id', 'run_id', 'space')
         and t.table_type = 'BASE TABLE' and c.table_name !~ '^(trace|feedback)'`,
    );
    await this.query(`truncate ${tables.map(({ name }) => name).join(', ')}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.nodes.map((node) => node[Symbol.asyncDispose]()));
    await Promise.all([...this.#proxies.values()].map((proxy) => proxy[Symbol.asyncDispose]()));
    await this.postgres.start();
    await this.postgres.dropDatabase(this.database);
  }
}
