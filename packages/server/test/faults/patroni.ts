// A PostgreSQL 15 with high availability: Patroni with a synchronous standby, and etcd, all on loopback ports.
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chown, mkdir, mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../src/storage/postgres/database.ts';
import { migrate } from '../../src/storage/schema/migrate.ts';
import { eventually } from '../eventually.ts';
import { freePort } from './free-port.ts';
import { programs } from './patroni-availability.ts';
import { bin15 } from './postgres-15.ts';
import { queryOnce, type ClusterPostgres } from './postgres.ts';

const host = '127.0.0.1';
/** Patroni allows no less: a leader that does not renew its key for this time is replaced. */
const ttlMs = 20_000;

export interface PatroniMember {
  readonly name: string;
  readonly port: number;
}

export interface PatroniPostgres extends ClusterPostgres, AsyncDisposable {
  /** The member that accepts writes now. */
  leader(): Promise<PatroniMember>;
  /** kill -9 of Patroni and PostgreSQL of a member, as if its machine was lost. */
  killMachine(member: PatroniMember): Promise<void>;
  /** kill -9 of the postmaster of a member. Its Patroni remains, and makes another member the leader. */
  killPostmaster(member: PatroniMember): Promise<void>;
  /** A planned change of the leader. */
  switchover(from: PatroniMember): Promise<void>;
  /** Waits until another member than this one is the leader. */
  untilReplaced(member: PatroniMember): Promise<PatroniMember>;
  /** Starts members that were killed, and waits until there is a leader with a synchronous standby. */
  start(): Promise<void>;
}

export const startPatroni = async (): Promise<PatroniPostgres> => {
  const user = await stat('/var/lib/postgresql');
  const folder = await mkdtemp(join(tmpdir(), 'svc-patroni-'));
  await chown(folder, user.uid, user.gid);
  const programsOf = new Programs(folder, user);
  const store = await freePort();
  const peers = `http://${host}:${await freePort()}`;
  const client = `http://${host}:${store}`;
  const options = {
    name: 'svc',
    'data-dir': join(folder, 'etcd-data'),
    'listen-client-urls': client,
    'advertise-client-urls': client,
    'listen-peer-urls': peers,
    'initial-advertise-peer-urls': peers,
    'initial-cluster': `svc=${peers}`,
  };
  const flags = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  await programsOf.start('etcd', programs.etcd, flags);
  const members = await Promise.all(['a', 'b'].map((name) => Member.make(name, programsOf, store)));
  const cluster = new PatroniCluster(folder, programsOf, members);
  try {
    await cluster.start();
    return cluster;
  } catch (error) {
    await cluster[Symbol.asyncDispose]();
    throw error;
  }
};

interface User {
  uid: number;
  gid: number;
}

/** Programs that run as the user postgres, each in a process group of its own. */
class Programs {
  readonly folder: string;
  readonly user: User;
  readonly #running = new Map<string, ChildProcess>();

  constructor(folder: string, user: User) {
    this.folder = folder;
    this.user = user;
  }

  isRunning(name: string): boolean {
    const child = this.#running.get(name);
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  async start(name: string, program: string, args: string[]): Promise<void> {
    await using log = await open(this.logOf(name), 'a');
    const { uid, gid } = this.user;
    const env = { PATH: '/usr/bin:/bin', HOME: this.folder, LC_ALL: 'C.UTF-8' };
    const stdio = ['ignore', log.fd, log.fd] as ['ignore', number, number];
    this.#running.set(name, spawn(program, args, { detached: true, cwd: this.folder, uid, gid, env, stdio }));
  }

  async kill(name: string): Promise<void> {
    const child = this.#running.get(name);
    if (!child || !this.isRunning(name)) return;
    const ended = once(child, 'exit');
    process.kill(-child.pid!, 'SIGKILL');
    await ended;
  }

  async killAll(): Promise<void> {
    for (const name of this.#running.keys()) await this.kill(name);
  }

  logOf(name: string): string {
    return join(this.folder, `${name}.log`);
  }
}

class Member implements PatroniMember {
  readonly name: string;
  readonly port: number;
  readonly #api: string;
  readonly #data: string;
  readonly #programs: Programs;

  private constructor(name: string, port: number, api: string, programsOf: Programs) {
    this.name = name;
    this.port = port;
    this.#api = api;
    this.#programs = programsOf;
    this.#data = join(programsOf.folder, name, 'data');
  }

  static async make(name: string, programsOf: Programs, store: number): Promise<Member> {
    const { folder, user } = programsOf;
    const [port, api] = [await freePort(), `${host}:${await freePort()}`];
    await mkdir(join(folder, name));
    await chown(join(folder, name), user.uid, user.gid);
    const member = new Member(name, port, `http://${api}`, programsOf);
    const trust = [
      'local all all trust',
      `host all all ${host}/32 trust`,
      `host replication all ${host}/32 trust`,
    ];
    // JSON is YAML.
    const config = {
      scope: 'svc',
      name,
      restapi: { listen: api, connect_address: api },
      etcd3: { host: `${host}:${store}` },
      bootstrap: {
        dcs: {
          ttl: ttlMs / 1_000,
          loop_wait: 1,
          retry_timeout: 5,
          synchronous_mode: true,
          primary_start_timeout: 0,
          postgresql: { parameters: { max_connections: 200, shared_buffers: '64MB', wal_log_hints: true } },
        },
        initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, { auth: 'trust' }],
      },
      postgresql: {
        listen: `${host}:${port}`,
        connect_address: `${host}:${port}`,
        data_dir: member.#data,
        bin_dir: bin15,
        pg_hba: trust,
        use_pg_rewind: true,
        remove_data_directory_on_rewind_failure: true,
        remove_data_directory_on_diverged_timelines: true,
        authentication: { superuser: { username: 'svc' }, replication: { username: 'replicator' } },
        parameters: { unix_socket_directories: join(folder, name) },
      },
    };
    await writeFile(member.#config(), JSON.stringify(config));
    return member;
  }

  #config(): string {
    return join(this.#programs.folder, `${this.name}.yml`);
  }

  async start(): Promise<void> {
    if (!this.#programs.isRunning(this.name))
      await this.#programs.start(this.name, programs.patroni, [this.#config()]);
  }

  async isLeader(): Promise<boolean> {
    return (await this.#get('/primary')) === 200;
  }

  async isSynchronous(): Promise<boolean> {
    return (await this.#get('/synchronous')) === 200;
  }

  async #get(path: string): Promise<number> {
    const response = await fetch(this.#api + path, { signal: AbortSignal.timeout(2_000) }).catch(
      () => undefined,
    );
    await response?.body?.cancel();
    return response?.status ?? 0;
  }

  async switchover(): Promise<void> {
    const response = await fetch(`${this.#api}/switchover`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ leader: this.name }),
    });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    await response.body?.cancel();
  }

  killPatroni(): Promise<void> {
    return this.#programs.kill(this.name);
  }

  /** PostgreSQL has a process group of its own. Its children end when the postmaster has ended. */
  async killPostmaster(): Promise<void> {
    const [pid] = (await readFile(join(this.#data, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
    if (Number(pid) > 0) process.kill(Number(pid), 'SIGKILL');
  }

  log(): Promise<string> {
    return readFile(this.#programs.logOf(this.name), 'utf8');
  }
}

class PatroniCluster implements PatroniPostgres {
  readonly hosts: string;
  readonly #folder: string;
  readonly #programs: Programs;
  readonly #members: readonly Member[];

  constructor(folder: string, programsOf: Programs, members: readonly Member[]) {
    this.#folder = folder;
    this.#programs = programsOf;
    this.#members = members;
    this.hosts = members.map(({ port }) => `${host}:${port}`).join(',');
  }

  async connection(database: string) {
    const { port } = await this.leader();
    return { host, port, user: 'svc', database };
  }

  async createDatabase(): Promise<string> {
    const name = `svc_${randomUUID().replaceAll('-', '')}`;
    await queryOnce(await this.connection('postgres'), `create database ${name}`);
    await using database = await openDatabase({ connection: await this.connection(name) });
    await migrate(database);
    return name;
  }

  async dropDatabase(database: string): Promise<void> {
    await queryOnce(await this.connection('postgres'), `drop database if exists ${database} with (force)`);
  }

  async start(): Promise<void> {
    await Promise.all(this.#members.map((member) => member.start()));
    await eventually(async () => {
      const leader = await this.#findLeader();
      const others = this.#members.filter((member) => member !== leader);
      const isSynchronous = await Promise.all(others.map((member) => member.isSynchronous()));
      if (!leader || !isSynchronous.includes(true)) throw await this.#notReady();
    }, 120_000);
  }

  async leader(): Promise<Member> {
    return eventually(async () => {
      const leader = await this.#findLeader();
      if (!leader) throw await this.#notReady();
      return leader;
    }, 120_000);
  }

  async #findLeader(): Promise<Member | undefined> {
    const isLeader = await Promise.all(this.#members.map((member) => member.isLeader()));
    return this.#members.find((_, at) => isLeader[at]);
  }

  async #notReady(): Promise<Error> {
    const logs = await Promise.all(this.#members.map(async (member) => (await member.log()).slice(-1_000)));
    return new Error(`The cluster has no leader with a synchronous standby:\n${logs.join('\n---\n')}`);
  }

  #of({ name }: PatroniMember): Member {
    return this.#members.find((member) => member.name === name)!;
  }

  async killMachine(member: PatroniMember): Promise<void> {
    await this.#of(member).killPatroni();
    await this.#of(member).killPostmaster();
  }

  killPostmaster(member: PatroniMember): Promise<void> {
    return this.#of(member).killPostmaster();
  }

  switchover(from: PatroniMember): Promise<void> {
    return this.#of(from).switchover();
  }

  async untilReplaced(member: PatroniMember): Promise<PatroniMember> {
    return eventually(async () => {
      const leader = await this.#findLeader();
      if (!leader || leader.name === member.name) throw await this.#notReady();
      return leader;
    }, 120_000);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const member of this.#members) await this.killMachine(member);
    await this.#programs.killAll();
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 10 });
  }
}
