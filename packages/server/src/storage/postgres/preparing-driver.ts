// Kysely's way to the database: what it compiles goes to `execute`, prepared under a name made of its text.
import { createHash } from 'node:crypto';
import { Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely';
import type pg from 'pg';
import type { Tables } from './tables.ts';

/** `reads`: asking twice does no harm, so that a connection which breaks meanwhile is no reason to give up. */
export type Execute = <Row extends pg.QueryResultRow>(
  query: pg.QueryConfig,
  reads?: boolean,
  onSend?: () => void,
) => Promise<pg.QueryResult<Row>>;

export const createKysely = (execute: Execute): Kysely<Tables> =>
  new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new PreparingDriver(execute),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });

class PreparingDriver implements Driver {
  readonly #execute: Execute;
  readonly #names = new Map<string, string>();

  constructor(execute: Execute) {
    this.#execute = execute;
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    return {
      executeQuery: async <R>({ sql, parameters, query }: CompiledQuery): Promise<QueryResult<R>> => {
        const statement = { name: this.#nameOf(sql), text: sql, values: parameters as unknown[] };
        const { rows } = await this.#execute(statement, query.kind === 'SelectQueryNode');
        return { rows: rows as R[] };
      },
      // oxlint-disable-next-line require-yield -- Kysely asks for it; nothing here streams
      async *streamQuery() {
        throw new Error('Queries are read whole');
      },
    };
  }

  #nameOf(text: string): string {
    let name = this.#names.get(text);
    if (name === undefined) {
      name = `k_${createHash('sha1').update(text).digest('hex').slice(0, 24)}`;
      this.#names.set(text, name);
    }
    return name;
  }

  init = (): Promise<void> => Promise.resolve();
  releaseConnection = (): Promise<void> => Promise.resolve();
  destroy = (): Promise<void> => Promise.resolve();
  beginTransaction = (): Promise<void> => Promise.reject(new Error('Use Database.transact'));
  commitTransaction = (): Promise<void> => Promise.reject(new Error('Use Database.transact'));
  rollbackTransaction = (): Promise<void> => Promise.reject(new Error('Use Database.transact'));
}
