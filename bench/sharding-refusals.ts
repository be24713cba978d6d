// Statements like those of svc, which PostgreSQL executes.
export const refusals: { name: string; sql: { text: string; values?: unknown[] } }[] = [
  {
    name: 'a stable function of a column in an update',
    sql: {
      text: `update runs set lease_until = lease_until + interval '1 s' where thread_id = $1`,
      values: ['00000000-0000-0000-0000-000000000006'],
    },
  },
  {
    name: 'a clock in `do update`',
    sql: {
      text: `insert into threads (thread_id) values ($1) on conflict (thread_id) do update set updated_at = clock_timestamp()`,
      values: ['00000000-0000-0000-0000-000000000002'],
    },
  },
  {
    name: 'an insert with a limit on the rows that exist',
    sql: {
      text: `insert into threads (thread_id, metadata) select $1, $2 where (select count(*) from threads) < $3`,
      values: ['00000000-0000-0000-0000-000000000003', '{}', 1_000_000],
    },
  },
  {
    name: 'an update by a volatile function',
    sql: {
      text: `update threads set metadata = jsonb_build_object('at', random()) where thread_id = $1`,
      values: ['00000000-0000-0000-0000-000000000004'],
    },
  },
  {
    name: 'a merge in `do update` (received traces)',
    sql: {
      text: `insert into threads as t (thread_id, metadata) values ($1, '{}') on conflict (thread_id) do update
        set (status, metadata) = (select m.status, m.metadata from (select excluded.status, t.metadata || excluded.metadata) as m(status, metadata))`,
      values: ['00000000-0000-0000-0000-000000000005'],
    },
  },
  {
    name: 'a policy with a subquery (row level security)',
    sql: {
      text: `create policy tenant on threads using (thread_id = (select current_setting('svc.tenant')::uuid))`,
    },
  },
];
