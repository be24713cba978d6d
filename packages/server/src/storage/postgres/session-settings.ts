// Settings of every session. A connection to PostgreSQL sends them when it starts. A pooler refuses or drops them, so behind a pooler
// the role has them (ALTER ROLE … SET).
import pg from 'pg';

/** PostgreSQL ends a statement after this time; the driver does so five seconds later. */
export const statementMs = 30_000;

/** Milliseconds. */
export const sessionTimeouts = {
  statement_timeout: statementMs,
  lock_timeout: 15_000,
  idle_in_transaction_session_timeout: 30_000,
};

/**
 * - search_path: the tables are in a schema of their own, so other applications can share the database.
 * - datestyle, timezone: as `columnTypes` parses times.
 * - jit=off: the planner overestimates queries over many partitions, and JIT compilation would cost more than it saves.
 * - random_page_cost=1.1: disks are SSDs today, and sums use an index-only scan only when random reads are cheap.
 */
const parameters = {
  search_path: 'svc',
  datestyle: 'ISO',
  timezone: 'UTC',
  jit: 'off',
  random_page_cost: '1.1',
};

/** The startup parameter `options` of a connection to PostgreSQL. */
export const sessionOptions = Object.entries(parameters)
  .map(([name, value]) => `-c ${name}=${value}`)
  .join(' ');

/** By name: as pg_settings has them, in which times are milliseconds. */
const required: Readonly<Record<string, string>> = {
  ...parameters,
  ...Object.fromEntries(Object.entries(sessionTimeouts).map(([name, ms]) => [name, String(ms)])),
};

export interface RoleFacts {
  role: string;
  database: string;
  /** The values of pg_settings, by lower-case name. */
  settings: Readonly<Record<string, string>>;
}

/** Reads `RoleFacts`. It has no parameters, so it needs no prepared statement. */
export const roleFactsText = `select session_user::text as role, current_database()::text as database,
    json_object_agg(lower(s.name), s.setting) as settings
  from pg_settings s where lower(s.name) in (${Object.keys(required)
    .map((name) => `'${name}'`)
    .join(', ')})`;

/** The statements that give the role the settings that its sessions lack. */
export const roleStatements = ({ role, database, settings }: RoleFacts): string[] =>
  Object.entries(required)
    .filter(([name, value]) => inForce(name, settings[name]) !== value)
    .map(
      ([name, value]) =>
        `ALTER ROLE ${pg.escapeIdentifier(role)} IN DATABASE ${pg.escapeIdentifier(database)} SET ${name} = '${value}'`,
    );

/** `datestyle` also has the order of day and month, which does not matter here. */
const inForce = (name: string, value = ''): string | undefined =>
  name === 'datestyle' ? value.split(',')[0] : value;
