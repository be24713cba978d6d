// How the embedded server is reached: by a Unix socket in a private directory; on Windows, which has none for
// Node, by a loopback port and a random password.
import { randomBytes, randomInt } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';

export interface Access {
  connection: pg.PoolConfig;
  initdbArgs: string[];
  serverArgs: string[];
}

const port = 5432;

export const openAccess = async (dataDir: string, socketDir: string): Promise<Access> => {
  if (process.platform === 'win32') return openLoopback(dataDir);
  return {
    // What PG* variables of our environment say is meant for other servers.
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

const openLoopback = async (dataDir: string): Promise<Access> => {
  await mkdir(dataDir, { recursive: true });
  const file = join(dataDir, 'postgres-access.json');
  const passwordFile = join(dataDir, 'postgres-password');
  const fresh: Secret = { port: randomInt(49_152, 65_536), password: randomBytes(24).toString('hex') };
  // Whoever comes first decides; the flag makes everyone else read what is there.
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
