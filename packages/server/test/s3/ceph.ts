// A Ceph with one monitor, one in-memory object store, and the S3 gateway.
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../faults/free-port.ts';
import { makeCephFolder, removeCephFolder } from './ceph-folder.ts';
import { Daemon, requireCeph, runCeph } from './ceph-programs.ts';

export interface Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** What other processes need to use the cluster. */
export interface CephAccess {
  readonly endpoint: string;
  /** The keys of a user with all permissions. */
  readonly keys: Keys;
  /** The folder of its configuration, for its programs. */
  readonly folder: string;
}

export interface Ceph extends AsyncDisposable {
  readonly access: CephAccess;
  /** The pids of its daemons. */
  readonly pids: readonly number[];
}

const host = '127.0.0.1';
const startMs = 120_000;

/** Needs only the programs and free ports, so there may be several; starting takes about ten seconds. */
export const openCeph = async ({ signal = new AbortController().signal } = {}): Promise<Ceph> => {
  requireCeph();
  const cluster = new Cluster(await makeCephFolder(), signal);
  try {
    const access = await cluster.start();
    return {
      access,
      pids: cluster.daemons.map(({ pid }) => pid),
      [Symbol.asyncDispose]: () => cluster.stop(),
    };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
};

class Cluster {
  readonly daemons: Daemon[] = [];
  readonly #folder: string;
  readonly #signal: AbortSignal;

  constructor(folder: string, signal: AbortSignal) {
    this.#folder = folder;
    this.#signal = signal;
  }

  async start(): Promise<CephAccess> {
    const monitorPorts = `[v2:${host}:${await freePort()},v1:${host}:${await freePort()}]`;
    const endpoint = `${host}:${await freePort()}`;
    const id = randomUUID();
    const folder = this.#folder;
    await writeFile(join(folder, 'ceph.conf'), configuration({ folder, id, monitorPorts, endpoint }));
    for (const name of ['mon', 'osd', 'run']) await mkdir(join(folder, name));
    await this.#startMonitor(id, monitorPorts);
    await this.#startStore();
    this.#startDaemon('radosgw', ['-n', 'client.admin', '--cluster', 'ceph']);
    const keys = newKeys();
    await this.#run('radosgw-admin', [
      'user',
      'create',
      '--uid=owner',
      '--display-name=owner',
      ...asArgs(keys),
    ]);
    await this.#untilServing(`http://${endpoint}`);
    return { endpoint: `http://${endpoint}`, keys, folder };
  }

  async stop(): Promise<void> {
    await Promise.all(this.daemons.map((daemon) => daemon[Symbol.asyncDispose]()));
    await removeCephFolder(this.#folder);
  }

  async #startMonitor(id: string, ports: string): Promise<void> {
    const all = ['mon', 'osd', 'mgr'].flatMap((daemon) => ['--cap', daemon, 'allow *']);
    await this.#run('ceph-authtool', ['-C', 'keyring', '--gen-key', '-n', 'mon.', '--cap', 'mon', 'allow *']);
    await this.#run('ceph-authtool', ['keyring', '--gen-key', '-n', 'client.admin', ...all]);
    await this.#run('monmaptool', ['--create', '--fsid', id, '--addv', 'a', ports, 'monmap']);
    await this.#run('ceph-mon', ['--mkfs', '-i', 'a', '--monmap', 'monmap', '--keyring', 'keyring']);
    this.#startDaemon('ceph-mon', ['-i', 'a']);
  }

  async #startStore(): Promise<void> {
    const id = randomUUID();
    const key = (await this.#run('ceph-authtool', ['--gen-print-key'])).trim();
    await this.#run('ceph', ['osd', 'new', id, '-i', '-'], JSON.stringify({ cephx_secret: key }));
    await this.#run('ceph-authtool', ['-C', 'osd/keyring', '--name', 'osd.0', '--add-key', key]);
    await this.#run('ceph-osd', ['-i', '0', '--mkfs', '--osd-uuid', id, '--keyring', 'osd/keyring']);
    this.#startDaemon('ceph-osd', ['-i', '0']);
  }

  #startDaemon(name: string, args: readonly string[]): void {
    this.daemons.push(new Daemon(this.#folder, name, args));
  }

  #run(program: string, args: readonly string[], input = ''): Promise<string> {
    return runCeph(this.#folder, program, args, { signal: this.#signal, input });
  }

  async #untilServing(url: string): Promise<void> {
    const deadline = performance.now() + startMs;
    for (;;) {
      for (const daemon of this.daemons) daemon.check();
      this.#signal.throwIfAborted();
      try {
        await (await fetch(url, { signal: this.#signal })).arrayBuffer();
        return;
      } catch (cause) {
        if (performance.now() > deadline) throw new Error(`The gateway did not answer at ${url}`, { cause });
        await sleep(20);
      }
    }
  }
}

export const newKeys = (): Keys => ({
  accessKeyId: randomBytes(10).toString('hex').toUpperCase(),
  secretAccessKey: randomBytes(20).toString('hex'),
});

/** In the format of radosgw-admin. */
export const asArgs = ({ accessKeyId, secretAccessKey }: Keys): string[] => [
  `--access-key=${accessKeyId}`,
  `--secret-key=${secretAccessKey}`,
];

interface Layout {
  folder: string;
  id: string;
  monitorPorts: string;
  endpoint: string;
}

/** One in-memory copy of all data; no background work; short socket paths. */
const configuration = ({ folder, id, monitorPorts, endpoint }: Layout): string => `[global]
fsid = ${id}
mon host = ${monitorPorts}
public network = 127.0.0.0/8
cluster network = 127.0.0.0/8
auth allow insecure global id reclaim = true
mon data = ${folder}/mon
osd data = ${folder}/osd
run dir = ${folder}/run
crash dir = ${folder}/run
keyring = ${folder}/keyring
admin socket =
log file =
mon cluster log to file = false
mon data avail crit = 1
mon data avail warn = 2
mon allow pool size one = true
mon max pg per osd = 1000
osd objectstore = memstore
memstore device bytes = 4294967296
osd memory target = 939524096
osd crush chooseleaf type = 0
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
rgw frontends = beast endpoint=${endpoint}
rgw gc processor period = 60
rgw gc obj min wait = 60
rgw enable usage log = false
paxos propose interval = 0.02
paxos min wait = 0.01
objecter tick interval = 0.2
[osd]
keyring = ${folder}/osd/keyring
`;
