// How errors of PostgreSQL are handled. One table, by SQLSTATE or a prefix of it, defines what callers see, whether the connection is
// kept, and whether the statement is repeated.
import pg from 'pg';
import { Problem } from '@svc/contract/problem';

const queryCanceled = '57014';

/** True when a statement exceeded its `statement_timeout`. */
export const isTimeLimit = (error: unknown): boolean =>
  error instanceof Problem && (error.cause as { code?: unknown } | undefined)?.code === queryCanceled;

export interface ErrorPolicy {
  /** `bug`: the error is passed on unchanged, and becomes an internal error. */
  kind: 'conflict' | 'unavailable' | 'invalid' | 'bug';
  /** `all dropped`: the server is of the wrong kind, so every connection of the same age is dropped too. */
  connection: 'kept' | 'dropped' | 'all dropped';
  /**
   * When the statement is repeated. `conflict`: nothing happened; a few times. `failover`: nothing happened; for a short time, on new
   * connections. `reads`: the outcome is unknown; only when the statement just reads.
   */
  retry: 'conflict' | 'failover' | 'reads' | 'never';
  /** Shown to callers. */
  message: string;
}

const conflict: ErrorPolicy = { kind: 'conflict', connection: 'kept', retry: 'conflict', message: '' };
const bug: ErrorPolicy = { kind: 'bug', connection: 'kept', retry: 'never', message: '' };
const invalid: ErrorPolicy = {
  kind: 'invalid',
  connection: 'kept',
  retry: 'never',
  message: 'The request holds a value that cannot be stored',
};
const broken: ErrorPolicy = {
  kind: 'unavailable',
  connection: 'dropped',
  retry: 'reads',
  message: 'The database cannot be reached at the moment',
};
/** PostgreSQL refused the statement because of its own state. The same statement works when an operator has fixed that. */
const refused = (message: string): ErrorPolicy => ({
  kind: 'unavailable',
  connection: 'kept',
  retry: 'never',
  message,
});
const slow = refused('The database took too long');
const failover = (message: string, connection: 'dropped' | 'all dropped'): ErrorPolicy => ({
  kind: 'unavailable',
  connection,
  retry: 'failover',
  message,
});
const pooled = failover(
  'The database does not keep prepared statements: a pooler in transaction mode is in between',
  'dropped',
);

/** The longest matching prefix counts. https://www.postgresql.org/docs/current/errcodes-appendix.html */
const policies: Readonly<Record<string, ErrorPolicy>> = {
  '08': broken,
  '22': invalid,
  '25006': failover('The database is read-only at the moment', 'all dropped'),
  '25P03': broken,
  '26000': pooled,
  '28': broken,
  '3D000': broken,
  '40001': conflict,
  '40P01': conflict,
  '42P05': pooled,
  '53': refused('The database has no resources left'),
  '53100': refused('The disk of the database is full'),
  '53200': refused('The database is out of memory'),
  '53300': { ...refused('The database has no free connection'), connection: 'dropped' },
  '55P03': slow,
  '57014': { ...slow, connection: 'dropped' },
  '57P': broken,
  '58': refused('The database cannot use its disk'),
};

/** Severities that end the connection. A server with another locale translates the words; then only the table above applies. */
const ending = new Set(['FATAL', 'PANIC']);

/**
 * A newer release has changed the result type of a statement, by a column or a function, after this connection prepared it.
 * PostgreSQL has no error code for that. The outdated plan stays with the connection, so the connection is dropped.
 */
const isStalePlan = ({ code, routine }: pg.DatabaseError): boolean =>
  code === '0A000' && routine === 'RevalidateCachedQuery';

/**
 * A function has called another one while a migration replaced both. Nothing was stored, and the same call works afterwards. A function that
 * a statement of this server names itself is missing for another reason.
 */
const isReplacedFunction = ({ code, internalQuery }: pg.DatabaseError): boolean =>
  code === '42883' && internalQuery !== undefined;

/** The policy for any error of a query or connection. */
export const policyOf = (error: unknown): ErrorPolicy => {
  // A value that the driver cannot encode, or that does not fit the type that it is read into, is a bug.
  if (error instanceof RangeError || error instanceof TypeError) return { ...bug, connection: 'dropped' };
  if (!(error instanceof pg.DatabaseError)) return isTimeout(error) ? { ...broken, retry: 'never' } : broken;
  if (isStalePlan(error)) return { ...conflict, connection: 'dropped' };
  if (isReplacedFunction(error)) return { ...bug, retry: 'conflict' };
  const policy = findPolicy(error.code ?? '');
  if (!ending.has(error.severity ?? '')) return policy ?? bug;
  const known = policy?.kind === 'unavailable' ? policy : broken;
  return known.connection === 'kept' ? { ...known, connection: 'dropped' } : known;
};

const findPolicy = (code: string): ErrorPolicy | undefined => {
  for (let length = code.length; length >= 2; length--) {
    const policy = policies[code.slice(0, length)];
    if (policy) return policy;
  }
  return undefined;
};

/** The driver's own errors have no code. */
const isTimeout = (error: unknown): boolean => /timeout/i.test((error as Error | undefined)?.message ?? '');

/** The Problem for an error. Conflicts and bugs are returned unchanged. */
export const toProblem = (error: unknown): unknown => {
  const { kind, message } = policyOf(error);
  return kind === 'unavailable' || kind === 'invalid' ? new Problem(kind, message, { cause: error }) : error;
};

/** The original error of the driver or of PostgreSQL behind a Problem. */
export const originalError = (error: unknown): unknown =>
  error instanceof Problem && error.cause !== undefined ? error.cause : error;

/** True when something that the work needs, such as the database, is unavailable for now. */
export const isUnavailable = (error: unknown): error is Problem =>
  error instanceof Problem && error.code === 'unavailable';

/** True when PostgreSQL refused the statement for a lasting reason, such as a full disk. The statement has had no effect. */
export const isRefused = (error: unknown): boolean => {
  if (!isUnavailable(error) || error.cause === undefined) return false;
  const { retry, connection } = policyOf(error.cause);
  return retry === 'never' && connection === 'kept';
};

/**
 * Why PostgreSQL refuses a statement again and again. `invalid`, `constraint`, `limit`: because of the values that it has. `statement`: for
 * another reason, such as a missing right or a raised exception, which may depend on its values.
 */
export type Refusal = 'invalid' | 'constraint' | 'limit' | 'statement';

/** Classes of SQLSTATEs. Limits are those of PostgreSQL, such as the size of an index row. */
const refusalClasses: Readonly<Record<string, Refusal>> = { '23': 'constraint', '54': 'limit' };

/** Undefined for outages, conflicts and errors that are not of PostgreSQL: the statement may succeed later. */
export const refusalOf = (error: unknown): Refusal | undefined => {
  if (error instanceof Problem) return error.code === 'invalid' ? 'invalid' : undefined;
  if (!(error instanceof pg.DatabaseError)) return undefined;
  const { kind, retry } = policyOf(error);
  if (kind === 'invalid') return 'invalid';
  const statement = kind === 'bug' && retry === 'never' ? 'statement' : undefined;
  return refusalClasses[error.code?.slice(0, 2) ?? ''] ?? statement;
};

/** True when a statement has not waited, or not longer, for a lock that another transaction has. It has had no effect. */
export const isLockTaken = (error: unknown): boolean => {
  const origin = originalError(error);
  return origin instanceof pg.DatabaseError && origin.code === '55P03';
};

/** True when PostgreSQL ended a single statement because of a time limit. The statement has had no effect. */
export const isSlow = (error: unknown): boolean =>
  isUnavailable(error) && error.cause !== undefined && policyOf(error.cause).message === slow.message;

/** True when the database is unreachable or refuses all statements. False for a single statement that timed out. */
export const isOutage = (error: unknown): boolean =>
  isUnavailable(error) && error.cause !== undefined && !isSlow(error);
