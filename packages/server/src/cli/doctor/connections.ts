// The connections that the database allows, that are in use, and that a server with these settings needs.
import { Problem } from '@svc/contract/problem';
import {
  type ConnectionLimits,
  connectionsToPooler,
  type NodeProcesses,
  planConnections,
} from '../../storage/postgres/connection-plan.ts';
import type { ConnectionUse } from '../../storage/postgres/installation.ts';
import { ok, type Outcome, problem, warning } from './finding.ts';

/** Above this part of the allowed connections, a warning. */
const fullPart = 0.9;

export const connectionsOutcome = (
  node: NodeProcesses,
  limits: ConnectionLimits,
  { max_connections, in_use }: ConnectionUse,
): Outcome => {
  const { allowed, others } = limits;
  const facts = `The database allows ${allowed} connections (max_connections is ${max_connections}), and ${in_use} are in use. Running servers have planned up to ${others}.`;
  try {
    const { total, warning: advice } = planConnections(node, limits);
    const message = `${facts} A server with these settings uses up to ${total}.`;
    if (in_use > allowed * fullPart)
      return warning(
        message,
        'Raise max_connections, or look in pg_stat_activity for the users of the connections.',
      );
    return advice === undefined ? ok(message) : warning(message, `For one more server: ${advice}.`);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return problem(facts, `${error.message}.`);
  }
};

/** The limits of a pooler are not visible from here. */
export const pooledConnectionsOutcome = (
  node: NodeProcesses,
  { max_connections, in_use }: ConnectionUse,
): Outcome =>
  ok(
    `PostgreSQL allows ${max_connections} connections, and ${in_use} are in use. A server with these settings opens up to ${connectionsToPooler(node)} ` +
      'connections to the pooler, which its max_client_conn must allow, and one to PostgreSQL.',
  );
