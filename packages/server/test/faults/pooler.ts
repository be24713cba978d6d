// PgBouncer in front of a PostgreSQL.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../eventually.ts';
import { freePort } from './free-port.ts';

const program = '/usr/sbin/pgbouncer';
const nobody = 65_534;

export const requirePooler = (): void => {
  if (!existsSync(program)) throw new Error(`${program} is missing: apt-get install pgbouncer`);
};

export interface PoolerOptions {
  /** The loopback port of the PostgreSQL behind it. */
  port: number;
  mode: 'session' | 'transaction' | 'statement';
  /** Startup parameters that it ignores; it rejects connections with any other one. */
  ignored?: readonly string[];
  /** Connections to PostgreSQL for each database and user. */
  poolSize?: number;
  /** SQL for each session that it opens. */
  connectQuery?: string;
}

export interface Pooler extends AsyncDisposable {
  port: number;
  /** kill -9, and a start on the same port. */
  restart(): Promise<void>;
}

/** Listens on a loopback port; every user may connect to every database. */
export const startPooler = async ({
  port,
  mode,
  ignored = [],
  poolSize = 40,
  connectQuery,
}: PoolerOptions): Promise<Pooler> => {
  requirePooler();
  const folder = await mkdtemp(join(tmpdir(), 'svc-pooler-'));
  const own = await freePort();
  const query = connectQuery === undefined ? '' : ` connect_query='${connectQuery.replaceAll("'", "''")}'`;
  const file = join(folder, 'pgbouncer.ini');
  await writeFile(
    file,
    `[databases]
* = host=127.0.0.1 port=${port} user=svc${query}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${own}
unix_socket_dir =
auth_type = any
admin_users = svc
pool_mode = ${mode}
default_pool_size = ${poolSize}
server_login_retry = 1
ignore_startup_parameters = ${['extra_float_digits', ...ignored].join(', ')}
`,
  );
  // PgBouncer refuses to run as root.
  await chmod(folder, 0o755);
  let running = await startProcess(file, own);
  return {
    port: own,
    async restart() {
      await running.kill();
      running = await startProcess(file, own);
    },
    async [Symbol.asyncDispose]() {
      await running.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

/** Resolves when it accepts connections. */
const startProcess = async (file: string, port: number): Promise<{ kill(): Promise<void> }> => {
  const isRoot = process.getuid?.() === 0;
  const child = spawn(program, ['-q', file], {
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(isRoot ? { uid: nobody, gid: nobody } : {}),
  });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  const exited = once(child, 'exit');
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended: ${output}`);
    const socket = net.connect(port, '127.0.0.1');
    await once(socket, 'connect').finally(() => socket.destroy());
  });
  return {
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
};
