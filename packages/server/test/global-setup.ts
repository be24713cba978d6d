// One PostgreSQL for the whole test run: the embedded one, or the server at SVC_TEST_DATABASE_URI. Migrated
// once into a template; every test file copies it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { openDatabase } from '../src/storage/database.ts';
import { openEmbedded } from '../src/storage/embedded/embedded.ts';
import { migrate } from '../src/storage/migrate.ts';

declare module 'vitest' {
  interface ProvidedContext {
    connection: pg.PoolConfig;
    template: string;
  }
}

const openServer = async (): Promise<{ connection: pg.PoolConfig } & AsyncDisposable> => {
  const uri = process.env['SVC_TEST_DATABASE_URI'];
  if (uri) return { connection: { connectionString: uri }, [Symbol.asyncDispose]: () => Promise.resolve() };
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-test-'));
  const embedded = await openEmbedded({ dataDir });
  return {
    connection: embedded.connection,
    async [Symbol.asyncDispose]() {
      await embedded[Symbol.asyncDispose]();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
};

export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const server = await openServer();
  const template = `svc_template_${process.pid}`;
  const admin = new pg.Client(server.connection);
  await admin.connect();
  await admin.query(`create database ${template}`);
  {
    await using database = await openDatabase({
      connection: { ...withoutUri(server.connection), database: template },
    });
    await migrate(database);
  }
  project.provide('connection', server.connection);
  project.provide('template', template);
  return async () => {
    await admin.query(`drop database if exists ${template} with (force)`);
    await admin.end();
    await server[Symbol.asyncDispose]();
  };
};

/** The parts of a URI, so that the database can be another one. */
export const withoutUri = ({ connectionString, ...rest }: pg.PoolConfig): pg.PoolConfig => {
  if (!connectionString) return rest;
  const { host, port, user, password } = new pg.Client({ connectionString });
  return { ...rest, host, port, ...(user ? { user } : {}), ...(password ? { password } : {}) };
};
