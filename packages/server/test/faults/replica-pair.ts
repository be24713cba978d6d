// A primary and a standby that streams from it, with a database whose traces are read from the standby.
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { openDatabase, type Database } from '../../src/storage/postgres/database.ts';
import type { TestDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { type FaultyPostgres, type PostgresOptions, queryOnce, startPostgres } from './postgres.ts';

export interface ReplicaPair extends AsyncDisposable {
  primary: FaultyPostgres;
  standby: FaultyPostgres;
  /** The database on the primary. */
  db: TestDatabase;
  /** The same database on the server at this port, by default on the standby. */
  uriOf(port?: number): string;
  /** Executes a statement on the standby. */
  onStandby<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>;
  /** Waits until the standby has replayed everything that the primary has written. */
  caughtUp(): Promise<void>;
  /** Stops the replay of the standby, and waits until it has stopped. */
  pauseReplay(): Promise<void>;
  resumeReplay(): Promise<void>;
  /** Changes a setting of the standby: `alter system`, and a reload. */
  setStandby(name: string, value: string): Promise<void>;
}

export const startReplicaPair = async (options: PostgresOptions = {}): Promise<ReplicaPair> => {
  const primary = await startPostgres(options);
  const standby = await primary.standby();
  const database = await primary.createDatabase();
  const onStandby = <Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> =>
    queryOnce<Row>(standby.connection(database), text, values);
  const uriOf = (port = standby.port): string => `postgresql://svc@127.0.0.1:${port}/${database}`;
  const connection = { connectionString: uriOf(primary.port) };
  const opened = await openDatabase({ connection });
  const db: TestDatabase = { ...opened, options: { connection }, uri: uriOf(primary.port) };
  const setStandby = async (name: string, value: string): Promise<void> => {
    await onStandby(`alter system set ${name} = '${value}'`);
    await onStandby('select pg_reload_conf()');
    await eventually(async () => {
      const [row] = await onStandby<{ value: string }>(`select current_setting($1) as value`, [name]);
      expect(row?.value).toBe(value);
    });
  };
  const pair: ReplicaPair = {
    primary,
    standby,
    db,
    uriOf,
    onStandby,
    setStandby,
    // A commit flushes the position before it. An idle primary may not do that.
    async caughtUp() {
      const marker = randomUUID();
      await db.query({ text: `create table if not exists caught_up (marker text)` }, []);
      await db.query({ text: 'insert into caught_up values ($1)' }, [marker]);
      await eventually(async () =>
        expect(await onStandby('select from svc.caught_up where marker = $1', [marker])).toHaveLength(1),
      );
    },
    async pauseReplay() {
      await onStandby('select pg_wal_replay_pause()');
      await eventually(async () => {
        const [row] = await onStandby<{ state: string }>('select pg_get_wal_replay_pause_state() as state');
        expect(row?.state).toBe('paused');
      });
    },
    async resumeReplay() {
      await onStandby('select pg_wal_replay_resume()');
    },
    async [Symbol.asyncDispose]() {
      await opened[Symbol.asyncDispose]();
      await standby[Symbol.asyncDispose]();
      await primary[Symbol.asyncDispose]();
    },
  };
  await pair.caughtUp();
  return pair;
};

/** Changes rows on the primary. */
export const execute = (db: Database, text: string, values: unknown[] = []): Promise<unknown[]> =>
  db.query({ text }, values);
