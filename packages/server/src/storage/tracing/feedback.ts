// Feedback on trace runs and on projects. It may arrive before its trace run. Feedback on a project has the id of the project as `run_id`.
import type { Feedback } from '@svc/contract';
import type { Database } from '../postgres/database.ts';
import { fromExactJson, fromExactText, toExactJson, toExactText } from '../postgres/exact-text.ts';
import { asTenant } from '../postgres/tenant.ts';
import { namedStatement, readStatement, statement } from '../postgres/statement.ts';

/** `score` is a decimal. */
export type FeedbackRow = Omit<Feedback, 'score' | 'value' | 'correction'> & {
  score: string | null;
  value: unknown;
  correction: unknown;
};

export type NewFeedback = Omit<FeedbackRow, 'created_at' | 'modified_at'> & { tenant_id: string };

/** An undefined field stays as it is; null removes its value. */
export interface FeedbackChange {
  /** A decimal. */
  score?: string | null | undefined;
  value?: unknown;
  correction?: unknown;
  comment?: string | null | undefined;
}

export interface FeedbackStat {
  run_id: string;
  key: string;
  n: number;
  avg: number | null;
}

const columns = `id, nullif(run_id, session_id) as run_id, trace_id, session_id, key, score, value, correction, comment, feedback_source,
  created_at, modified_at`;

export const statements = {
  put: namedStatement<FeedbackRow>(`insert into feedback as f (tenant_id, id, run_id, trace_id, session_id, key, score, value, correction, comment, feedback_source)
      select :tenant_id, :id, coalesce(:run_id, :session_id), coalesce(:trace_id, r.trace_id), coalesce(:session_id, r.session_id), :key, :score, :value,
        :correction, :comment, :feedback_source
      from (select 1) one
      left join trace_run_days d on d.tenant_id = :tenant_id and d.id = :run_id
      left join tenant_runs r on r.tenant_id = :tenant_id and r.id = :run_id and r.day = d.day
      where :run_id is not null or exists (select from projects p where p.tenant_id = :tenant_id and p.id = :session_id)
      on conflict (tenant_id, id) do update set key = excluded.key, score = excluded.score, value = excluded.value,
        correction = excluded.correction, comment = excluded.comment, feedback_source = excluded.feedback_source,
        modified_at = now()
      where f.run_id = excluded.run_id
      returning ${columns}`),
  find: readStatement<FeedbackRow>(`select ${columns} from feedback where tenant_id = $1 and id = $2`),
  // A flag per field tells whether the field is given.
  change:
    namedStatement<FeedbackRow>(`update feedback set score = case when :has_score then :score::numeric else score end,
        value = case when :has_value then :value::jsonb else value end,
        correction = case when :has_correction then :correction::jsonb else correction end,
        comment = case when :has_comment then :comment else comment end, modified_at = now()
      where tenant_id = :tenant_id and id = :id returning ${columns}`),
  delete: statement('delete from feedback where tenant_id = $1 and id = $2 returning id'),
  // For feedback without a trace: it was sent after its trace expired, or the trace never arrived. delete_old_traces() deletes the rest.
  deleteExpired: statement<{ count: number }>(`with old as (
        select f.tenant_id, f.id from workspaces w
        cross join lateral (
          select f.tenant_id, f.id from feedback f
          where f.tenant_id = w.id and f.created_at < now() - $1::int * interval '1 day'
            and not exists (select from trace_run_days d where d.tenant_id = f.tenant_id and d.id = f.run_id)
            and not exists (select from projects p where p.tenant_id = f.tenant_id and p.id = f.run_id)
          order by f.created_at limit $2::int
        ) f
        limit $2::int
      ), gone as (
        delete from feedback f using old where f.tenant_id = old.tenant_id and f.id = old.id returning 1
      )
      select count(*)::int as count from gone`),
  list: statement<FeedbackRow>(`select ${columns} from feedback where tenant_id = $1
      and ($2::uuid[] is null or run_id = any ($2::uuid[])) and ($3::text[] is null or key = any ($3::text[]))
      and ($4::text[] is null or feedback_source ->> 'type' = any ($4::text[]))
      and ($7::uuid[] is null or session_id = any ($7::uuid[]))
      order by created_at desc, id desc limit $5 offset $6`),
  ofRuns:
    statement<FeedbackStat>(`select run_id, key, count(*) as n, avg(score)::double precision as avg from feedback
      where tenant_id = $1 and run_id = any ($2::uuid[]) group by run_id, key order by run_id, key`),
};

const jsonOf = (value: unknown): string | null =>
  value === undefined || value === null ? null : toExactJson(value);

const toFeedback = (row: FeedbackRow): FeedbackRow => ({
  ...row,
  key: fromExactText(row.key),
  comment: row.comment === null ? null : fromExactText(row.comment),
  value: fromExactJson(row.value),
  correction: fromExactJson(row.correction),
  feedback_source: fromExactJson(row.feedback_source) as Record<string, unknown>,
});

export type FeedbackStorage = ReturnType<typeof feedbackStorage>;

export const feedbackStorage = (db: Database) => ({
  /** Inserts feedback or replaces the one with the same id; undefined when that one belongs to another trace run, or the project does not exist. */
  put: (one: NewFeedback): Promise<FeedbackRow | undefined> =>
    asTenant(db, one.tenant_id, async (tx) => {
      const values = statements.put.values({
        ...one,
        key: toExactText(one.key),
        value: jsonOf(one.value),
        correction: jsonOf(one.correction),
        comment: one.comment === null ? null : toExactText(one.comment),
        feedback_source: jsonOf(one.feedback_source),
      });
      const [row] = await tx.query(statements.put, values);
      return row && toFeedback(row);
    }),

  find: (tenant_id: string, id: string): Promise<FeedbackRow | undefined> =>
    asTenant(db, tenant_id, async (tx) => {
      const [row] = await tx.query(statements.find, [tenant_id, id]);
      return row && toFeedback(row);
    }),

  /** Undefined when it does not exist. */
  change: (tenant_id: string, id: string, change: FeedbackChange): Promise<FeedbackRow | undefined> =>
    asTenant(db, tenant_id, async (tx) => {
      const { score, value, correction, comment } = change;
      const values = statements.change.values({
        tenant_id,
        id,
        has_score: score !== undefined,
        score: score ?? null,
        has_value: value !== undefined,
        value: jsonOf(value),
        has_correction: correction !== undefined,
        correction: jsonOf(correction),
        has_comment: comment !== undefined,
        comment: comment === undefined || comment === null ? null : toExactText(comment),
      });
      const [row] = await tx.query(statements.change, values);
      return row && toFeedback(row);
    }),

  /** Returns whether it existed. */
  delete: (tenant_id: string, id: string): Promise<boolean> =>
    asTenant(db, tenant_id, async (tx) => (await tx.query(statements.delete, [tenant_id, id])).length > 0),

  /** Newest first. A null condition matches everything. */
  list: (
    tenant_id: string,
    of: {
      run_ids: string[] | null;
      session_ids: string[] | null;
      keys: string[] | null;
      sources: string[] | null;
    },
    { limit, offset }: { limit: number; offset: number },
  ): Promise<FeedbackRow[]> =>
    asTenant(db, tenant_id, async (tx) => {
      const keys = of.keys?.map(toExactText) ?? null;
      const values = [tenant_id, of.run_ids, keys, of.sources, limit, offset, of.session_ids];
      return (await tx.query(statements.list, values)).map(toFeedback);
    }),

  /** Count and mean score of the feedback, by trace run and key. */
  ofRuns: (tenant_id: string, run_ids: string[]): Promise<FeedbackStat[]> =>
    asTenant(db, tenant_id, async (tx) => {
      const rows = await tx.query(statements.ofRuns, [tenant_id, run_ids]);
      return rows.map((row) => ({ ...row, key: fromExactText(row.key) }));
    }),

  /** Deletes at most `limit` rows that are older than traces are kept, and have no trace. Returns how many. */
  async deleteExpired(daysKept: number, limit: number): Promise<number> {
    return (await db.query(statements.deleteExpired, [daysKept, limit]))[0]?.count ?? 0;
  },
});
