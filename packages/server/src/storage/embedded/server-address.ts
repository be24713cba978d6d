// The address of the embedded server: a Unix socket in a private directory. On Windows, where Node cannot connect to one, a
// loopback port and a random password.
import { randomBytes, randomInt } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';

export interface ServerAddress {
  connection: pg.PoolConfig;
  initdbArgs: string[];
  serverArgs: string[];
}

const port = 5432;

export const openServerAddress = async (dataDir: string, socketDir: string): Promise<ServerAddress> => {
  if (process.platform === 'win32') return openLoopback(dataDir);
  return {
    // Explicit values, so that PG* variables of the environment do not apply: they are for other servers.
    connection: { host: socketDir, port, user: 'svc', database: 'postgres', ssl: false },
    initdbArgs: ['-A', 'trust'],
    serverArgs: [
      '-k',
      socketDir,
      '-p',
      String(port),
      '-c',
      'listen_addresses=',
      '-c',
      'unix_socket_permissions=0700',
    ],
  };
};

interface Secret {
  port: number;
  password: string;
}

const openLoopback = async (dataDir: string): Promise<ServerAddress> => {
  await mkdir(dataDir, { recursive: true });
  const file = join(dataDir, 'postgres-access.json');
  const passwordFile = join(dataDir, 'postgres-password');
  const fresh: Secret = { port: randomInt(49_152, 65_536), password: randomBytes(24).toString('hex') };
  // The first process creates the file (flag wx); all others read it.
  await writeFile(file, JSON.stringify(fresh), { flag: 'wx', mode: 0o600 }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    },
  );
  const secret = JSON.parse(await readFile(file, 'utf8')) as Secret;
  await writeFile(passwordFile, secret.password, { mode: 0o600 });
  return {
    connection: {
      host: '127.0.0.1',
      port: secret.port,
      user: 'svc',
      password: secret.password,
      database: 'postgres',
      ssl: false,
    },
    initdbArgs: ['-A', 'scram-sha-256', '--pwfile', passwordFile],
    serverArgs: ['-p', String(secret.port), '-c', 'listen_addresses=127.0.0.1'],
  };
};
