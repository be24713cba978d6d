import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { openDatabase, type Database, type DatabaseOptions } from '../src/storage/postgres/database.ts';
import { withoutUri } from './global-setup.ts';

export interface TestDatabase extends Database {
  options: DatabaseOptions;
  /** For servers in processes of their own. */
  uri: string;
}

const asAdmin = async (sql: string): Promise<void> => {
  const admin = new pg.Client(inject('connection'));
  await admin.connect();
  try {
    await admin.query(sql);
  } finally {
    await admin.end();
  }
};

/** A new database for the caller, migrated by default; it is dropped when it is disposed. */
export const testDatabase = async ({ migrated = true } = {}): Promise<TestDatabase> => {
  const name = `svc_${randomUUID().replaceAll('-', '')}`;
  await asAdmin(
    `create database ${name} template ${migrated ? inject('template') : 'template0'} strategy file_copy`,
  );
  const connection = { ...withoutUri(inject('connection')), database: name };
  const options = { connection };
  // A test may hold a transaction for as long as a busy machine needs to start executors.
  const database = await openDatabase({
    connection: { ...connection, idle_in_transaction_session_timeout: 0 },
  });
  const { user = 'postgres', password, host = 'localhost', port = 5432 } = connection;
  const secret = typeof password === 'string' ? `:${encodeURIComponent(password)}` : '';
  return {
    ...database,
    options,
    uri: host.startsWith('/')
      ? `postgresql://${user}${secret}@localhost/${name}?host=${encodeURIComponent(host)}&port=${port}`
      : `postgresql://${user}${secret}@${host}:${port}/${name}`,
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]();
      await asAdmin(`drop database if exists ${name} with (force)`);
    },
  };
};
