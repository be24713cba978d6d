// Divides the allowed connections among the processes of a node, so that all of them together stay within the database's limits.
import { Problem } from '@svc/contract/problem';
import type { Database } from './database.ts';
import { readStatement } from './statement.ts';

/** The processes of a node, and the settings that limit their connections. */
export interface NodeProcesses {
  /** Maximum size of the pool of the server process, and of each executor. */
  poolMax: number;
  executors: number;
  /** Exporters that may run at the same time. */
  exporters: number;
}

export interface ConnectionPlan {
  /** Pool size of the server process. */
  server: number;
  /** Pool size of an executor. */
  executor: number;
  /** Executors with a single run that may exist at the same time. */
  solitary: number;
  /** Exporters that may run at the same time; fewer than the setting when the database allows no more. */
  exporters: number;
  /** Maximum for the whole node, without connections to a pooler. */
  total: number;
  /** Advice for the operator when all nodes together may exceed the limit; undefined otherwise. */
  warning: string | undefined;
}

export interface ConnectionLimits {
  /** The lowest limit of the PostgreSQL server, the role and the database, without reserved connections. */
  allowed: number;
  /** The maximum that other nodes have reported for themselves. */
  others: number;
}

/** An exporter reads rows on one connection and records its progress on the other. */
export const exporterConnections = 2;
/** Connections of an exporter to the replica, which are not part of the plan: they are those of another PostgreSQL. */
export const exporterReplicaConnections = 1;
/** Pool size of an executor with a single run. */
export const solitaryConnections = 2;
/** Connections for LISTEN. */
const listeners = 1;
/** Kept free for `svc` commands and for operators. */
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

/** The connections that the node needs for pools of the configured size. */
export const wantedConnections = (node: NodeProcesses): number =>
  totalOf(node, { server: node.poolMax, executor: node.poolMax, exporters: node.exporters }) + spare;

/**
 * When there are too few connections, pools shrink first; then fewer exporters run at the same time. Throws `unavailable` with advice
 * when the node does not fit even alone.
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

/**
 * Behind a pooler, which opens the connections to PostgreSQL within its own limits: every process gets pools of the configured size, and
 * only the connection for LISTEN counts.
 */
export const planPooled = (node: NodeProcesses): ConnectionPlan => ({
  server: Math.max(node.poolMax, least.server),
  executor: node.poolMax,
  exporters: node.exporters,
  solitary: solitaryOf(node),
  total: listeners,
  warning: undefined,
});

/** Connections that the node opens to a pooler. */
export const connectionsToPooler = (node: NodeProcesses): number =>
  totalOf(node, planPooled(node)) - listeners;

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
    `This server needs at least ${needed} connections to PostgreSQL, and only ${allowed} are allowed: raise max_connections by ` +
      `${needed - allowed} (or the limit of the role or the database), or lower ${settingsOf(node)}`,
  );

const warningOf = (
  node: NodeProcesses,
  needed: number,
  { allowed, others }: ConnectionLimits,
): string | undefined =>
  needed + others <= allowed
    ? undefined
    : `All servers on this database together may need ${needed + others} connections, and it allows ${allowed}: raise max_connections by ` +
      `${needed + others - allowed}, or lower ${settingsOf(node)} here or elsewhere`;

export const statement = readStatement<ConnectionLimits>(`select least(
        current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer
          - coalesce(current_setting('reserved_connections', true)::integer, 0),
        (select nullif(r.rolconnlimit, -1) from pg_roles r where r.rolname = current_user),
        (select nullif(d.datconnlimit, -1) from pg_database d where d.datname = current_database()))::integer as allowed,
      coalesce((select sum(w.connections) from workers w where w.seen_at > now() - $1 * interval '1 ms'), 0)::integer as others`);

/** Nodes whose last report is older than `ttlMs` are not counted. */
export const readConnectionLimits = async (db: Database, ttlMs: number): Promise<ConnectionLimits> => {
  const [row] = await db.query(statement, [ttlMs]);
  return row as ConnectionLimits;
};
