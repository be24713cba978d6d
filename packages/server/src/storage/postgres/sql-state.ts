// What an error of PostgreSQL means. One table, by SQLSTATE or a prefix of it, decides what callers see, whether the
// connection can be used again, and whether the statement is sent again.
import { Problem } from '@svc/contract/problem';
import pg from 'pg';

export interface Meaning {
  /** `bug`: the error passes as it is, and becomes an internal error. */
  kind: 'conflict' | 'unavailable' | 'invalid' | 'bug';
  /** `all dropped`: the server behind it is the wrong one, so every connection that is as old is dropped too. */
  connection: 'kept' | 'dropped' | 'all dropped';
  /**
   * When the statement is sent again. `conflict`: nothing happened, a few times. `moved`: nothing happened, for a
   * moment, on a new connection. `reads`: its outcome is unknown, so only when it changes nothing.
   */
  again: 'conflict' | 'moved' | 'reads' | 'never';
  /** Shown to callers. */
  message: string;
}

const conflict: Meaning = { kind: 'conflict', connection: 'kept', again: 'conflict', message: '' };
const bug: Meaning = { kind: 'bug', connection: 'kept', again: 'never', message: '' };
const invalid: Meaning = {
  kind: 'invalid',
  connection: 'kept',
  again: 'never',
  message: 'The request holds a value that cannot be stored',
};
const broken: Meaning = {
  kind: 'unavailable',
  connection: 'dropped',
  again: 'reads',
  message: 'The database cannot be reached at the moment',
};
/** The server refused, and its state is not ours to change: the same statement works once somebody has. */
const refused = (message: string): Meaning => ({
  kind: 'unavailable',
  connection: 'kept',
  again: 'never',
  message,
});
const slow = refused('The database took too long');
const moved = (message: string, connection: 'dropped' | 'all dropped'): Meaning => ({
  kind: 'unavailable',
  connection,
  again: 'moved',
  message,
});
const pooled = moved(
  'The database does not keep prepared statements: a pooler in transaction mode is in between',
  'dropped',
);

/** The longest prefix counts. https://www.postgresql.org/docs/current/errcodes-appendix.html */
const meanings: Readonly<Record<string, Meaning>> = {
  '08': broken,
  '22': invalid,
  '25006': moved('The database is read-only at the moment', 'all dropped'),
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

/** A connection ends with these. The server may have translated the word; then the table has to do. */
const ending = new Set(['FATAL', 'PANIC']);

/**
 * A newer release has changed what a statement returns, by a column or a function, after this connection prepared it.
 * PostgreSQL has no code of its own for that. The plan stays with the connection.
 */
const isStalePlan = ({ code, routine }: pg.DatabaseError): boolean =>
  code === '0A000' && routine === 'RevalidateCachedQuery';

/** Of any error that a query or a connection ended with. */
export const meaningOf = (error: unknown): Meaning => {
  // A value that the driver cannot send, or that does not fit the type that it is read into: a mistake of ours.
  if (error instanceof RangeError || error instanceof TypeError) return { ...bug, connection: 'dropped' };
  if (!(error instanceof pg.DatabaseError)) return isTimeout(error) ? { ...broken, again: 'never' } : broken;
  if (isStalePlan(error)) return { ...conflict, connection: 'dropped' };
  const meaning = find(error.code ?? '');
  if (!ending.has(error.severity ?? '')) return meaning ?? bug;
  const known = meaning?.kind === 'unavailable' ? meaning : broken;
  return known.connection === 'kept' ? { ...known, connection: 'dropped' } : known;
};

const find = (code: string): Meaning | undefined => {
  for (let length = code.length; length >= 2; length--) {
    const meaning = meanings[code.slice(0, length)];
    if (meaning) return meaning;
  }
  return undefined;
};

/** The driver's errors have no codes. */
const isTimeout = (error: unknown): boolean => /timeout/i.test((error as Error | undefined)?.message ?? '');

/** What callers get in place of an error. A conflict and a bug pass as they are. */
export const toProblem = (error: unknown): unknown => {
  const { kind, message } = meaningOf(error);
  return kind === 'unavailable' || kind === 'invalid' ? new Problem(kind, message, { cause: error }) : error;
};

/** The error of the driver or the server that a Problem was made of; the error itself when it is none. */
export const originOf = (error: unknown): unknown =>
  error instanceof Problem && error.cause !== undefined ? error.cause : error;

/** The work failed because something that it needs, such as the database, is unavailable for now. */
export const isUnavailable = (error: unknown): error is Problem =>
  error instanceof Problem && error.code === 'unavailable';

/** The database has refused the statement, which has not happened, for a reason that lasts: a full disk, for one. */
export const isRefused = (error: unknown): boolean => {
  if (!isUnavailable(error) || error.cause === undefined) return false;
  const { again, connection } = meaningOf(error.cause);
  return again === 'never' && connection === 'kept';
};

/** The database is not there, or refuses for now, whatever is asked. A statement that took too long is no such case. */
export const isAway = (error: unknown): boolean => {
  if (!isUnavailable(error) || error.cause === undefined) return false;
  return meaningOf(error.cause).message !== slow.message;
};
