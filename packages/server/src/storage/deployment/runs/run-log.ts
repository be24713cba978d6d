// The log of a run's events, for readers in other processes and for resumable streams. Written by commit_batch(), read here.
import type { Database } from '../../postgres/database.ts';
import { readStatement, statement } from '../../postgres/statement.ts';

export interface LogRow {
  run_id: string;
  first_id: number;
  last_id: number;
  /** Alternating lines: the name of an event, its data as JSON. */
  events: string;
  /** JSON text of a LoggedOutcome; set on the last row of a log. */
  outcome: string | null;
  /** Milliseconds since the row was written. */
  age_ms: number;
}

export interface LoggedOutcome {
  status: string;
  /** JSON text. */
  error: string | null;
  values: string | null;
}

/** Where to continue in a run's log: at rows that contain this id or later ones. */
export interface LogPosition {
  run_id: string;
  next_id: number;
}

const columns = `e.run_id, e.first_id, e.last_id, e.events, e.outcome,
  extract(epoch from clock_timestamp() - e.created_at)::float8 * 1000 as age_ms`;

export const statements = {
  // Rows until their bytes exceed the bound; at least one row.
  page: readStatement<LogRow>(`select ${columns} from (
        select e.*, sum(octet_length(e.events)) over (order by e.first_id, e.last_id) - octet_length(e.events) as before
        from (select * from run_events where run_id = $1 and (last_id >= $2 or outcome is not null)
              order by first_id, last_id limit 500) e
      ) e where e.before < $3 order by e.first_id, e.last_id`),
  news: readStatement<LogRow & { found: number }>('select * from new_run_events($1, $2, $3, $4)'),
  end: readStatement<{ next_id: number | null }>(
    'select max(last_id) + 1 as next_id from run_events where run_id = $1',
  ),
  // The row of a stateless run is deleted together with its log.
  prune: statement<{ runs: number }>(`with over as (
        select run_id from run_events
        where outcome is not null and created_at < now() - $1 * interval '1 ms' order by created_at limit $2
      ), temporary as (
        delete from runs r using over where r.run_id = over.run_id and r.temporary and r.status not in ('pending', 'running')
      ), gone as (
        delete from run_events e using over where e.run_id = over.run_id returning e.outcome
      )
      select count(outcome)::integer as runs from gone`),
};

export type RunLogStorage = ReturnType<typeof runLogStorage>;

export const runLogStorage = (db: Database) => ({
  /** Rows from an id on, about `bytes` in size; empty at the end of the log. */
  page: (run_id: string, next_id: number, bytes: number): Promise<LogRow[]> =>
    db.query(statements.page, [run_id, next_id, bytes]),

  /**
   * New rows of several logs: about `bytes.log` of each, and not many more than `bytes.all` together. `isCut`: rows were left out
   * because of `bytes.all`, so a log without a returned row may have new rows.
   */
  async news(
    positions: LogPosition[],
    bytes: { log: number; all: number },
  ): Promise<{ rows: LogRow[]; isCut: boolean }> {
    const rows = await db.query(statements.news, [
      positions.map(({ run_id }) => run_id),
      positions.map(({ next_id }) => next_id),
      bytes.log,
      bytes.all,
    ]);
    return { rows, isCut: rows.length < (rows[0]?.found ?? 0) };
  },

  /** The id of the next event; undefined when there is no log. */
  async findEnd(run_id: string): Promise<number | undefined> {
    return (await db.query(statements.end, [run_id]))[0]?.next_id ?? undefined;
  },

  /** Deletes logs of runs that ended longer ago than `retentionMs`; returns of how many runs. */
  async prune(retentionMs: number, limit: number): Promise<number> {
    return (await db.query(statements.prune, [retentionMs, limit]))[0]?.runs ?? 0;
  },
});
