// What a run has waited for and done: its attempts, the runs of its thread that were in front of it, and its checkpoints.
import type { Database } from '../../postgres/database.ts';
import { runPasses, type RowFilter } from '../../postgres/row-filter.ts';
import { endedAt, type RunRow } from './run-rows.ts';
import { readStatement } from '../../postgres/statement.ts';

export type TimedRun = Pick<
  RunRow,
  | 'run_id'
  | 'thread_id'
  | 'status'
  | 'attempt'
  | 'lease_token'
  | 'lost_attempts'
  | 'created_at'
  | 'started_at'
  | 'ended_at'
> & { not_before: string; read_at: string };

/** Another run of the thread that has executed. */
export interface OtherRun {
  run_id: string;
  started_at: string;
  /** Null while it executes. */
  ended_at: string | null;
}

/**
 * `wrote`, `shape` and `planned` are JSON text; only the newest checkpoint has its `shape`. `planned`: names of the tasks of the checkpoint
 * before it. `is_first`: no checkpoint of the run is before it.
 */
export interface StepRow {
  checkpoint_id: string;
  step: number | null;
  source: string | null;
  wrote: string | null;
  shape: string | null;
  planned: string | null;
  is_first: boolean;
}

/** Ended runs that are examined, besides the running ones: the newest that were created before the run started. */
const othersMax = 100;
/** Bytes of `wrote` that one read returns; more only for a single checkpoint. */
const wroteBytesMax = 4_194_304;

export const statements = {
  run: readStatement<TimedRun>(`select r.run_id, r.thread_id, r.status, r.attempt, r.lease_token, r.lost_attempts, r.created_at, r.started_at, r.not_before,
        ${endedAt} as ended_at, now() as read_at
      from runs r where r.run_id = $1 and r.thread_id = $2 and ${runPasses('$3')}`),
  others: readStatement<OtherRun>(`select r.run_id, r.started_at, ${endedAt} as ended_at
      from ((select o.* from runs o where o.thread_id = $1 and o.run_id <> $2 and o.status = 'running')
            union all
            (select o.* from runs o
             where o.thread_id = $1 and o.run_id <> $2 and o.status not in ('pending', 'running')
               and o.created_at <= coalesce($4::timestamptz, now())
             order by o.created_at desc, o.run_id desc limit ${othersMax})) r
      where r.started_at is not null and (r.status = 'running' or r.updated_at >= $3::timestamptz)`),
  // From the checkpoint that the run left, or the newest one, back to the first of the run: one lookup each.
  steps: readStatement<StepRow>(`with recursive line as (
        select c.thread_id, c.checkpoint_id, c.parent_id, c.metadata, c.wrote, c.shape, 1 as depth, coalesce(octet_length(c.wrote), 0)::bigint as bytes
        from runs r
        left join checkpoint_heads h on h.thread_id = r.thread_id and h.checkpoint_ns = ''
        join checkpoints c on c.thread_id = r.thread_id and c.checkpoint_ns = '' and c.checkpoint_id = coalesce(r.final_head, h.checkpoint_id)
        where r.run_id = $1 and c.run_id = r.run_id
        union all
        select c.thread_id, c.checkpoint_id, c.parent_id, c.metadata, c.wrote, null, l.depth + 1, l.bytes + coalesce(octet_length(c.wrote), 0)
        from line l join checkpoints c on c.thread_id = $2 and c.checkpoint_ns = '' and c.checkpoint_id = l.parent_id
        where c.run_id = $1 and l.depth < $3::integer and l.bytes < ${wroteBytesMax}
      )
      select checkpoint_id, (metadata::json ->> 'step')::integer as step, metadata::json ->> 'source' as source, wrote, shape,
        (select json_agg(distinct t.name)::text
         from checkpoints p cross join lateral json_to_recordset(p.shape::json -> 'tasks') as t(name text)
         where p.thread_id = line.thread_id and p.checkpoint_ns = '' and p.checkpoint_id = line.parent_id) as planned,
        not exists (select from checkpoints c where c.thread_id = line.thread_id and c.checkpoint_ns = ''
          and c.checkpoint_id = line.parent_id and c.run_id = $1) as is_first
      from line order by depth`),
};

export const runTimeline = (db: Database) => ({
  async findTimed(run_id: string, thread_id: string, access: RowFilter): Promise<TimedRun | undefined> {
    return (await db.query(statements.run, [run_id, thread_id, access.jsonpath]))[0];
  },

  /** Those that executed between the creation of a run and its start, or now. */
  listOthers: ({ thread_id, run_id, created_at }: TimedRun, started_at: string | null): Promise<OtherRun[]> =>
    db.query(statements.others, [thread_id, run_id, created_at, started_at]),

  /** The newest checkpoints of a run, at most `limit`, newest first. */
  listSteps: ({ thread_id, run_id }: TimedRun, limit: number): Promise<StepRow[]> =>
    db.query(statements.steps, [run_id, thread_id, limit]),
});
