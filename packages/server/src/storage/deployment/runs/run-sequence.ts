// The runs of a thread in the order of their first claims, which is the order of their events (functions/runs/new_first_seq.sql).
import type { Database } from '../../postgres/database.ts';
import type { RowFilter } from '../../postgres/row-filter.ts';
import type { RunRow } from './run-rows.ts';
import { readStatement } from '../../postgres/statement.ts';

/** A run that was claimed at least once. `has_log`: events or the outcome of the run are stored. */
export interface SequencedRun extends Pick<RunRow, 'run_id' | 'status'> {
  first_seq: number;
  graph_id: string;
  has_log: boolean;
}

/** How a run that has a resume value was started. */
export interface RunAnswer {
  /** JSON text. */
  kwargs: string;
  /** The interrupts of the thread when the run was first claimed: lists by task, as a JSON text. */
  found_interrupts: string | null;
}

export interface RunSequence {
  claimed: SequencedRun[];
  /** The oldest run that may be claimed next. */
  awaited: string | undefined;
}

type Row = (Omit<SequencedRun, 'first_seq'> & { first_seq: number | null }) | { run_id: null };

export const statements = {
  // One snapshot: a run that is claimed meanwhile is listed as claimed or as awaited.
  sequence: readStatement<Row>(`select n.run_id, n.status, n.first_seq, n.graph_id,
        exists (select 1 from run_events e where e.run_id = n.run_id) as has_log
      from threads t left join lateral (
        (select r.run_id, r.status, r.first_seq, r.graph_id from runs r
         where r.thread_id = t.thread_id and r.first_seq is not null and r.first_seq > $2
         order by r.first_seq limit $4)
        union all
        (select r.run_id, r.status, r.first_seq, r.graph_id from runs r
         where r.thread_id = t.thread_id and r.status in ('pending', 'running') and r.first_seq is null and r.waits_for not in ('time', 'answer')
         order by r.created_at, r.run_id limit 1)
      ) n on true
      where t.thread_id = $1 and t.metadata @@ $3::jsonpath
      order by n.first_seq nulls last`),
  // Most runs have no resume value; their kwargs, which may be large, are not read.
  answer: readStatement<RunAnswer>(`select r.kwargs, r.found_interrupts
      from runs r join threads t on t.thread_id = r.thread_id
      where r.run_id = $1 and r.thread_id = $2 and t.metadata @@ $3::jsonpath and strpos(r.kwargs, '"resume":') > 0`),
  repeatable: readStatement<{
    run_id: string;
    is_repeatable: boolean;
  }>(`select run_id, (status in ('pending', 'running') or cancel_reason like 'taken:%')
        and created_at > now() - $2 * interval '1 ms' as is_repeatable
      from runs where run_id = any ($1::uuid[])`),
  floor: readStatement<{ first_seq: number | null }>(`select max(first_seq) as first_seq from runs
      where thread_id = $1 and first_seq is not null and first_seq <= $2`),
};

export const runSequence = (db: Database) => ({
  /** The next `limit` runs whose events follow `after`; undefined when the thread does not exist. */
  async listSequence(
    thread_id: string,
    after: number,
    limit: number,
    access: RowFilter,
  ): Promise<RunSequence | undefined> {
    const rows = await db.query(statements.sequence, [thread_id, after, access.jsonpath, limit]);
    if (rows.length === 0) return undefined;
    const isClaimed = (row: Row): row is SequencedRun => row.run_id !== null && row.first_seq !== null;
    const awaited = rows.find((row) => !isClaimed(row))?.run_id ?? undefined;
    return { claimed: rows.filter(isClaimed), awaited };
  },

  /** How the run was started; undefined when it does not exist or has no resume value. */
  async findAnswer(run_id: string, thread_id: string, access: RowFilter): Promise<RunAnswer | undefined> {
    const [row] = await db.query(statements.answer, [run_id, thread_id, access.jsonpath]);
    return row;
  },

  /** The runs of these ids that exist. `is_repeatable`: the run is in flight, or its input was taken, and it is not older than `ms`. */
  listRepeatable: (run_ids: string[], ms: number): Promise<{ run_id: string; is_repeatable: boolean }[]> =>
    db.query(statements.repeatable, [run_ids, ms]),

  /** Where the run begins to which the number belongs; 0 when it is older than all runs. */
  async floor(thread_id: string, seq: number): Promise<number> {
    const [row] = await db.query(statements.floor, [thread_id, seq]);
    return row?.first_seq ?? 0;
  },
});
