// A pool of connections to PostgreSQL. Every statement is prepared by name; a connection that timed out or broke
// is destroyed, since what it does with its next query cannot be known.
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '@svc/contract/problem';
import type pg from 'pg';
import { type Connecting, connectingTo, type DatabaseOptions } from './connection-options.ts';
import type { OnRow } from './copy-out.ts';
import { type Borrowed, copyRows, Lender, type Outage, reconnectMs, runQuery } from './lender.ts';
import { connectAny, openListener } from './listener.ts';
import { checkSession, isPoolerRefusal, poolerRefusal } from './session-check.ts';
import { meaningOf, originOf } from './sql-state.ts';

export type { DatabaseOptions } from './connection-options.ts';

export interface Statement {
  /** Under which it is prepared; empty for one that hardly comes again. */
  name: string;
  text: string;
  /** Changes nothing: asked again when the connection breaks. */
  reads?: boolean;
  /** For what must be known soon or not at all. */
  timeoutMs?: number;
  /** Called when a connection was had and the statement leaves; again when it is asked again. */
  onSend?: () => void;
}

export interface Database extends AsyncDisposable {
  query<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]>;
  /** The rows of `copy … to stdout (format binary)`, which takes no parameters, as they arrive. When aborted the connection is given up. */
  copyOut(text: string, onRow: OnRow, signal?: AbortSignal): Promise<void>;
  /** Several statements without parameters, as a migration has them; may take as long as it needs. */
  script(text: string): Promise<void>;
  /** Runs in one transaction on one connection; tried again when the database found it to conflict with another. */
  transact<T>(work: (tx: Database) => Promise<T>): Promise<T>;
  /** Connections of the pool, and who waits for one. */
  poolState(): { pool_total: number; pool_idle: number; pool_waiting: number };
  /** While no connection can be made. */
  outage(): Outage | undefined;
  /** Notifications of a channel, on a connection of its own that comes back by itself. */
  listen(
    channel: string,
    onNotify: (payload: string) => void,
    onReconnect?: () => void,
  ): Promise<AsyncDisposable>;
}

/** The driver's own limit cannot be switched off, only be made long. */
const scriptMs = 24 * 60 * 60 * 1_000;
const conflictTries = 3;
/** How long a statement that a read-only server refused is sent again: the next connection may lead to its successor. */
const movedMs = { max: 2_000, pause: 100 };

/** Connects once to see that it can be done. Throws `unavailable` with what to do about it. */
export const openDatabase = async (options: DatabaseOptions): Promise<Database> => {
  const connecting = connectingTo(options);
  const lender = new Lender(connecting);
  try {
    await lender.lend(({ client }) => checkSession(client, () => connectAny(connecting)), false);
  } catch (error) {
    await lender[Symbol.asyncDispose]();
    throw explain(error);
  }
  return poolDatabase(lender, connecting);
};

const explain = (error: unknown): Problem => {
  const cause = originOf(error);
  if (cause instanceof Problem) return cause;
  if (isPoolerRefusal(cause)) return poolerRefusal(cause);
  return new Problem('unavailable', `The database cannot be reached: ${(cause as Error).message}`, { cause });
};

const poolDatabase = (lender: Lender, connecting: Connecting): Database => ({
  ...queries(<Row extends pg.QueryResultRow>(query: pg.QueryConfig, reads?: boolean, onSend?: () => void) =>
    again(
      () =>
        lender.lend((borrowed) => {
          onSend?.();
          return runQuery<Row>(borrowed, query);
        }),
      reads,
    ),
  ),
  transact: (work) => again(() => lender.lend((borrowed) => inTransaction(borrowed, work))),
  copyOut: (text, onRow, signal) => lender.lend((borrowed) => copyRows(borrowed, text, onRow, signal)),
  poolState: () => lender.state,
  outage: () => lender.outage,
  listen: (channel, onNotify, onReconnect) => openListener({ connecting, channel, onNotify, onReconnect }),
  [Symbol.asyncDispose]: () => lender[Symbol.asyncDispose](),
});

/** `reads`: the query changes nothing, so it is sent again when its connection breaks. */
type Execute = <Row extends pg.QueryResultRow>(
  query: pg.QueryConfig,
  reads?: boolean,
  onSend?: () => void,
) => Promise<pg.QueryResult<Row>>;

const queries = (execute: Execute): Pick<Database, 'query' | 'script'> => ({
  async query<Row>(
    { name, text, reads, timeoutMs, onSend }: Statement,
    values: readonly unknown[],
  ): Promise<Row[]> {
    const bound = timeoutMs === undefined ? {} : { query_timeout: timeoutMs };
    const query = { name, text, values: values as unknown[], ...bound };
    const { rows } = await execute(query, reads, onSend);
    return rows as Row[];
  },
  async script(text) {
    const query: pg.QueryConfig & { query_timeout: number } = { text, query_timeout: scriptMs };
    await execute(query);
  },
});

/**
 * One statement or transaction, sent again where it is known not to have happened, or changes nothing: that depends on the
 * error.
 */
const again = async <T>(work: () => Promise<T>, reads = false): Promise<T> => {
  const startMs = performance.now();
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      const pauseMs = pauseBefore(error, { tries, reads, afterMs: performance.now() - startMs });
      if (pauseMs === undefined) throw error;
      await sleep(pauseMs);
    }
  }
};

/** Undefined when it is not worth another try. */
const pauseBefore = (
  error: unknown,
  { tries, reads, afterMs }: { tries: number; reads: boolean; afterMs: number },
): number | undefined => {
  // What work threw of its own accord is no error of the database.
  const isOfDatabase = !(error instanceof Problem) || error.code === 'unavailable';
  const origin = originOf(error);
  if (!isOfDatabase || origin instanceof Problem) return undefined;
  switch (meaningOf(origin).again) {
    case 'conflict':
      return tries < conflictTries ? 5 * tries : undefined;
    case 'moved':
      return afterMs < movedMs.max ? movedMs.pause : undefined;
    case 'reads':
      return reads && afterMs < reconnectMs.max ? 5 * tries : undefined;
    case 'never':
      return undefined;
  }
};

const inTransaction = async <T>(borrowed: Borrowed, work: (tx: Database) => Promise<T>): Promise<T> => {
  let isOpen = true;
  const execute: Execute = (query, _reads, onSend) => {
    if (!isOpen) throw new Error('The transaction of this handle has ended');
    onSend?.();
    return runQuery(borrowed, query);
  };
  const tx: Database = {
    ...queries(execute),
    transact: (inner) => inner(tx),
    copyOut(text, onRow, signal) {
      if (!isOpen) throw new Error('The transaction of this handle has ended');
      return copyRows(borrowed, text, onRow, signal);
    },
    poolState: () => ({ pool_total: 1, pool_idle: 0, pool_waiting: 0 }),
    outage: () => undefined,
    listen: () => Promise.reject(new Error('A transaction cannot listen')),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  await runQuery(borrowed, { text: 'begin' });
  try {
    const result = await work(tx);
    const { command } = await runQuery(borrowed, { text: 'commit' });
    // PostgreSQL answers a commit after a failed statement with a rollback, and no error.
    if (command !== 'COMMIT')
      throw new Error(
        'Nothing was committed: a statement of the transaction failed, and its error was caught',
      );
    return result;
  } catch (error) {
    // The server rolls back what it cannot be asked to.
    if (borrowed.isSound) await runQuery(borrowed, { text: 'rollback' }).catch(() => undefined);
    throw error;
  } finally {
    isOpen = false;
  }
};
