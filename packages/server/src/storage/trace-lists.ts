// Runs by time. A project's runs are looked for in the newest days first, in steps that grow, until there are enough: a page
// of what is recent opens one or two partitions, however many there are.
import type { Database } from './database.ts';
import { asTenant } from './tenant.ts';
import { traceColumns, type TraceRow } from './trace-row.ts';

export interface RunListFilter {
  tenant_id: string;
  session_ids: string[] | null;
  trace_id: string | null;
  is_root: boolean | null;
  /** Not before, and not after. */
  since: string | null;
  until: string | null;
  /** Those that come after this one in the list. */
  after: { start_time: string; id: string } | null;
  limit: number;
}

const conditions = `r.tenant_id = $1
  and ($2::uuid[] is null or r.session_id = any ($2)) and ($3::uuid is null or r.trace_id = $3)
  and ($4::boolean is null or (r.parent_run_id is null) = $4)
  and ($5::timestamptz is null or r.start_time >= $5) and ($6::timestamptz is null or r.start_time <= $6)
  and ($7::timestamptz is null or (r.start_time, r.id) < ($7, $8::uuid))`;

const statements = {
  byIds: {
    name: 'traces_by_ids',
    text: `select ${traceColumns} from unnest($2::uuid[]) wanted
      cross join lateral (select d.day from trace_run_days d where d.tenant_id = $1 and d.id = wanted) d
      cross join lateral (select * from trace_runs r where r.tenant_id = $1 and r.id = wanted and r.day = d.day) r
      order by r.start_time desc, r.id desc limit $3`,
  },
  days: {
    name: 'traces_days',
    text: `select day from trace_days
      where ($1::timestamptz is null or day >= ($1 at time zone 'utc')::date)
        and ($2::timestamptz is null or day <= ($2 at time zone 'utc')::date)
      order by day desc limit 10000`,
  },
  // The far partition takes part in every step, with what belongs between its ends.
  between: {
    name: 'traces_between',
    text: `select ${traceColumns} from (
        (select * from trace_runs r where r.day between $9 and $10 and ${conditions}
          order by r.start_time desc, r.id desc limit $11)
        union all
        (select * from trace_runs r where r.day = '-infinity' and ${conditions}
          and ($12 or r.start_time >= $9::date) and ($13::date is null or r.start_time < $13)
          order by r.start_time desc, r.id desc limit $11)
      ) r order by r.start_time desc, r.id desc limit $11`,
  },
};

const nothingEarlier = '1000-01-01';

export const traceLists = (db: Database) => ({
  listByIds: (tenant_id: string, ids: string[], limit: number): Promise<TraceRow[]> =>
    asTenant(db, tenant_id, (tx) => tx.query<TraceRow>(statements.byIds, [tenant_id, ids, limit])),

  /** Newest first. Runs whose start is not known are in no list. */
  list: (filter: RunListFilter): Promise<TraceRow[]> =>
    asTenant(db, filter.tenant_id, async (tx) => {
      const { tenant_id, session_ids, trace_id, is_root, since, until, after, limit } = filter;
      const upper = after?.start_time ?? until;
      const days = await tx.query<{ day: string }>(statements.days, [since, upper]);
      const rows: TraceRow[] = [];
      let before: string | null = null;
      for (let at = 0, step = 1; at === 0 || at < days.length; at += step, step *= 2) {
        const newest = days[at]?.day ?? nothingEarlier;
        const isLast = at + step >= days.length;
        const oldest = isLast ? nothingEarlier : (days[at + step - 1]?.day ?? nothingEarlier);
        rows.push(
          ...(await tx.query<TraceRow>(statements.between, [
            tenant_id,
            session_ids,
            trace_id,
            is_root,
            since,
            until,
            after?.start_time ?? null,
            after?.id ?? null,
            oldest,
            newest,
            limit - rows.length,
            isLast,
            before,
          ])),
        );
        before = oldest;
        if (rows.length >= limit) break;
      }
      return rows;
    }),
});
