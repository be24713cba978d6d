// How many connections each process of a node may have, so that all of them together stay within what the database allows.
import { Problem } from '@svc/contract/problem';
import type { Database } from './database.ts';

/** Processes of a node, and how many connections the settings let them have. */
export interface NodeProcesses {
  /** Of the server process, and of each executor: at most. */
  poolMax: number;
  executors: number;
  /** Exporters at once. */
  exporters: number;
}

export interface ConnectionPlan {
  /** Pool of the server process. */
  server: number;
  /** Pool of an executor. */
  executor: number;
  /** Executors at once that have one run each. */
  solitary: number;
  /** Exporters at once; fewer than asked for where the database allows no more. */
  exporters: number;
  /** Of the whole node, at most. */
  total: number;
  /** What to do where the nodes together may need more than there are; undefined when they do not. */
  warning: string | undefined;
}

export interface ConnectionLimits {
  /** What the server, the role and the database allow together, reserved ones left out. */
  allowed: number;
  /** What other nodes say that they may need. */
  others: number;
}

/** Of an exporter: one to read rows, one to say what was written. */
export const exporterConnections = 2;
/** Of an executor with one run. */
export const solitaryConnections = 2;
/** For notifications. */
const listeners = 1;
/** Left for commands and for people who connect to the database. */
const spare = 3;
const least = { server: 3, executor: 2 };

const solitaryOf = ({ executors }: NodeProcesses): number => Math.max(2, Math.ceil(executors / 4));

const totalOf = (
  node: NodeProcesses,
  { server, executor, exporters }: { server: number; executor: number; exporters: number },
): number =>
  listeners +
  server +
  node.executors * executor +
  solitaryOf(node) * solitaryConnections +
  exporters * exporterConnections;

/** What the node needs when nothing is in short supply. */
export const wantedConnections = (node: NodeProcesses): number =>
  totalOf(node, { server: node.poolMax, executor: node.poolMax, exporters: node.exporters }) + spare;

/**
 * When there are too few, pools get smaller first, then fewer exporters run at once. Throws `unavailable`, and says what to change, when the
 * node would not fit even if it were alone.
 */
export const planConnections = (node: NodeProcesses, limits: ConnectionLimits): ConnectionPlan => {
  const smallest = { ...least, exporters: Math.min(1, node.exporters) };
  const needed = totalOf(node, smallest) + spare;
  if (needed > limits.allowed) throw tooFew(node, needed, limits.allowed);
  const room = Math.max(needed, limits.allowed - limits.others) - spare;
  const exporters = largest(
    smallest.exporters,
    node.exporters,
    (count) => totalOf(node, { ...least, exporters: count }) <= room,
  );
  const executor = largest(
    least.executor,
    node.poolMax,
    (size) => totalOf(node, { server: Math.max(size, least.server), executor: size, exporters }) <= room,
  );
  const server = largest(
    least.server,
    Math.max(node.poolMax, least.server),
    (size) => totalOf(node, { server: size, executor, exporters }) <= room,
  );
  const total = totalOf(node, { server, executor, exporters });
  return {
    server,
    executor,
    exporters,
    solitary: solitaryOf(node),
    total,
    warning: warningOf(node, needed, limits),
  };
};

const largest = (from: number, to: number, fits: (value: number) => boolean): number => {
  let value = from;
  while (value < to && fits(value + 1)) value++;
  return value;
};

const settingsOf = ({ executors, exporters }: NodeProcesses): string =>
  [`SVC_EXECUTORS (${executors})`, ...(exporters > 0 ? [`SVC_EXPORT_SLOTS (${exporters})`] : [])].join(
    ' or ',
  );

const tooFew = (node: NodeProcesses, needed: number, allowed: number): Problem =>
  new Problem(
    'unavailable',
    `This server needs ${needed} connections to PostgreSQL or more, and may have ${allowed}: raise max_connections by ` +
      `${needed - allowed} (or the limit of the role or the database), or lower ${settingsOf(node)}`,
  );

const warningOf = (
  node: NodeProcesses,
  needed: number,
  { allowed, others }: ConnectionLimits,
): string | undefined =>
  needed + others <= allowed
    ? undefined
    : `All servers on this database may need ${needed + others} connections, and it allows ${allowed}: raise max_connections by ` +
      `${needed + others - allowed}, or lower ${settingsOf(node)} here or elsewhere`;

const statement = {
  name: 'connection_limits',
  reads: true,
  text: `select least(
        current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer
          - coalesce(current_setting('reserved_connections', true)::integer, 0),
        (select nullif(r.rolconnlimit, -1) from pg_roles r where r.rolname = current_user),
        (select nullif(d.datconnlimit, -1) from pg_database d where d.datname = current_database()))::integer as allowed,
      coalesce((select sum(w.connections) from workers w where w.seen_at > now() - $1 * interval '1 ms'), 0)::integer as others`,
};

/** `ttlMs`: how long ago a node that lives may have been heard of. */
export const readConnectionLimits = async (db: Database, ttlMs: number): Promise<ConnectionLimits> => {
  const [row] = await db.query<ConnectionLimits>(statement, [ttlMs]);
  return row as ConnectionLimits;
};
