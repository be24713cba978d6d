// One PostgreSQL for the whole test run: the embedded one, or the server at SVC_TEST_DATABASE_URI. Migrations run once on a template
// database; every test file copies it. The programs of child processes are compiled once too.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { openDatabase } from '../src/storage/postgres/database.ts';
import { migrate } from '../src/storage/schema/migrate.ts';
import { compileCheckout } from '../../../scripts/build/checkout.mjs';

declare module 'vitest' {
  interface ProvidedContext {
    connection: pg.PoolConfig;
    template: string;
    /** A folder that is deleted after the test run, with every PostgreSQL that has its data below. */
    scratch: string;
    /** The URL that starts the S3 of the test run on request. */
    gatewayUrl: string;
  }
}

/** The first line that the guard prints. */
interface Guarded {
  connection: pg.PoolConfig;
  gatewayUrl: string;
}

const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

const startGuard = async (
  scratch: string,
  mode: 'embedded' | 'external',
): Promise<Guarded & AsyncDisposable> => {
  const script = fileURLToPath(new URL('./guard.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', tsx, script, scratch, mode], {
    detached: true, // a Ctrl-C only reaches this process: the guard cleans up after that
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const [line] = (await Promise.race([
    once(createInterface(child.stdout), 'line'),
    ended.then(() => Promise.reject(new Error('PostgreSQL did not start for the tests'))),
  ])) as [string];
  return {
    ...(JSON.parse(line) as Guarded),
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await ended;
    },
  };
};

/** A test run needs less than this for its PostgreSQL. */
const memoryBytesMin = 3_000_000_000;

/**
 * Where the PostgreSQL of the test run has its data. In memory where there is enough: creating and dropping databases, of which every
 * file has its own, is then ten times faster.
 */
const scratchParent = async (): Promise<string> => {
  const memory = '/dev/shm';
  const space = await statfs(memory).catch(() => undefined); // other systems than Linux have none
  return space && space.bavail * space.bsize > memoryBytesMin ? memory : tmpdir();
};

export const setup = async (project: Pick<TestProject, 'provide'>): Promise<() => Promise<void>> => {
  const uri = process.env['SVC_TEST_DATABASE_URI'];
  const scratch = await mkdtemp(join(await scratchParent(), 'svc-test-'));
  const compiled = compileCheckout();
  if (compiled === undefined) throw new Error('the sources cannot be compiled: run npx svc --version');
  const guard = await startGuard(scratch, uri ? 'external' : 'embedded');
  // Workers, and the servers that they start, inherit it.
  process.env['SVC_TEST_PROGRAMS'] = join(compiled, 'bin');
  const connection = uri ? { connectionString: uri } : guard.connection;
  // The setups of several projects may share one server.
  const template = `svc_template_${randomUUID().replaceAll('-', '')}`;
  const asAdmin = async (sql: string): Promise<void> => {
    const admin = new pg.Client(connection);
    await admin.connect();
    try {
      await admin.query(sql);
    } finally {
      await admin.end();
    }
  };
  await asAdmin(`create database ${template}`);
  {
    await using database = await openDatabase({
      connection: { ...withoutUri(connection), database: template },
    });
    await migrate(database);
  }
  project.provide('connection', connection);
  project.provide('template', template);
  project.provide('scratch', scratch);
  project.provide('gatewayUrl', guard.gatewayUrl);
  return async () => {
    await asAdmin(`drop database if exists ${template} with (force)`);
    await guard[Symbol.asyncDispose]();
  };
};

/** Splits a URI into parts, so that another database can be chosen. */
export const withoutUri = ({ connectionString, ...rest }: pg.PoolConfig): pg.PoolConfig => {
  if (!connectionString) return rest;
  const { host, port, user, password } = new pg.Client({ connectionString });
  return { ...rest, host, port, ...(user ? { user } : {}), ...(password ? { password } : {}) };
};
