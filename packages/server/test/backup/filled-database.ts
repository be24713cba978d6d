// A database with rows of several areas, and digests of all of its rows.
import { randomUUID } from 'node:crypto';
import type { TestDatabase } from '../database.ts';

export const run = <Row>(db: TestDatabase, text: string, values: unknown[] = []) =>
  db.query<Row>({ text }, values);

/** 5,000 threads among others. */
export const fillDatabase = async (database: TestDatabase): Promise<void> => {
  await run(
    database,
    `insert into threads (thread_id, blob_space, metadata) select i, i, jsonb_build_object('n', n) from (select gen_random_uuid() as i, n from generate_series(1, 5000) n) s`,
  );
  const assistant_id = randomUUID();
  await run(database, `insert into assistants (assistant_id, graph_id, name) values ($1, 'chat', 'a')`, [
    assistant_id,
  ]);
  await run(database, `insert into workspaces (id, display_name) values (gen_random_uuid(), 'shop')`);
  await run(
    database,
    `insert into trace_hour_changes (tenant_id, session_id, hour) select gen_random_uuid(), gen_random_uuid(), now() from generate_series(1, 7)`,
  );
  await run(database, `select add_trace_days(array['2026-01-02', '2026-01-03']::date[])`);
  await run(
    database,
    `insert into trace_attachments (tenant_id, day, run_id, name, content_type, content)
     select gen_random_uuid(), '2026-01-02', gen_random_uuid(), 'a', 'image/png', decode(repeat('00ff', 100000), 'hex') from generate_series(1, 20)`,
  );
  await run(
    database,
    `insert into webhook_deliveries (run_id, thread_id, url, run) values (gen_random_uuid(), gen_random_uuid(), 'https://a.example.com/x', '{}')`,
  );
};

/** A digest of all rows of all tables, without those that describe processes and migrations. */
export const digests = async (db: TestDatabase): Promise<Record<string, string>> => {
  const tables = await run<{ name: string }>(
    db,
    `select relname as name from pg_class where relnamespace = 'svc'::regnamespace and relkind in ('r', 'p')
     and relname not in ('schema_migrations', 'schema_functions', 'workers') order by 1`,
  );
  const found: Record<string, string> = {};
  for (const { name } of tables) {
    const [row] = await run<{ digest: string }>(
      db,
      `select count(*) || ' ' || coalesce(md5(string_agg(md5(t::text), '' order by md5(t::text))), '') as digest from svc."${name}" t`,
    );
    found[name] = row?.digest ?? '';
  }
  return found;
};
