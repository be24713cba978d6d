// Looks at the embedded PostgreSQL of a data folder without starting it and without writing to the folder.
import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { findBinariesVersion } from './binaries.ts';
import { readDataVersion } from './data-version.ts';
import { isPostmaster } from './postmaster-file.ts';
import { isSameScope, type PidScope } from '../../config/process-identity.ts';

export interface EmbeddedState {
  folder: string;
  /** Major version of the data; undefined when there is none yet. */
  dataVersion: number | undefined;
  /** Version of the installed binaries, such as `18.1.0`; undefined when this platform has none. */
  binariesVersion: string | undefined;
  /** The server that runs on the folder on this machine. */
  running: { pid: number; connection: pg.PoolConfig } | undefined;
  /** Another machine or container that uses the folder, or was killed while it did. */
  otherHost: string | undefined;
}

export const readEmbeddedState = async (dataDir: string): Promise<EmbeddedState> => {
  const folder = join(dataDir, 'postgres');
  const data = await realpath(folder).catch(() => folder); // a link, where root runs PostgreSQL as nobody
  const owner = ownerIn(await textOf(join(dataDir, 'postgres.owner')));
  return {
    folder,
    dataVersion: await readDataVersion(data),
    binariesVersion: await findBinariesVersion(),
    running: await findRunning(dataDir, data),
    otherHost: owner !== undefined && !isSameScope(owner) ? owner.host : undefined,
  };
};

/** The lines of postmaster.pid: https://github.com/postgres/postgres/blob/REL_18_STABLE/src/include/utils/pidfile.h */
const findRunning = async (dataDir: string, data: string): Promise<EmbeddedState['running']> => {
  const lines = (await textOf(join(data, 'postmaster.pid'))).split('\n').map((line) => line.trim());
  const [pidText, , , portText, socketDir = '', address = ''] = lines;
  const pid = Number(pidText);
  if (!(pid > 0) || !(await isPostmaster(data, pid))) return undefined;
  const server = { port: Number(portText), user: 'svc', database: 'postgres', ssl: false };
  if (socketDir !== '') return { pid, connection: { ...server, host: socketDir } };
  const password = (await textOf(join(dataDir, 'postgres-password'))).trim();
  return { pid, connection: { ...server, host: address, password } };
};

const textOf = (file: string): Promise<string> => readFile(file, 'utf8').catch(() => '');

const ownerIn = (text: string): PidScope | undefined => {
  try {
    return JSON.parse(text) as PidScope;
  } catch {
    return undefined; // there is none
  }
};
