-- Ranks of single fields of a run of a trace; null while the rank of the row says them (functions/traces/trace_merge.sql).
alter table trace_runs add column ranks jsonb;

-- Runs whose start has moved: an export that was made before goes by the start that the run had then. Kept while there is such an export.
create table trace_moves (
  tenant_id  uuid        not null,
  id         uuid        not null,
  -- In the order in which the start of a run moved.
  number     bigint      generated always as identity,
  day        date        not null,
  -- Before the move; 'infinity' when it was not known.
  start_time timestamptz not null,
  moved_at   timestamptz not null default clock_timestamp(),
  primary key (tenant_id, id, number)
);
create index trace_moves_start on trace_moves (tenant_id, day, start_time, id);
create index trace_moves_moved on trace_moves (moved_at);

do $$ begin
  grant select, insert on trace_moves to svc_tenant;
  alter table trace_moves enable row level security;
  create policy tenant on trace_moves to svc_tenant
    using (tenant_id = (select current_setting('svc.tenant')::uuid)) with check (tenant_id = current_setting('svc.tenant')::uuid);
exception when undefined_object or insufficient_privilege then
  raise notice 'no role svc_tenant: row level security is off';
end $$;

-- Transactions that were writing traces when the export was made: it starts once they are over. Null until that was looked up.
alter table exports add column writers text[];
-- The folders of an export's files (platform/exports/layout.ts). Servers of earlier releases know only 1, and create exports with it.
alter table exports add column layout_version integer not null default 1 check (layout_version in (1, 2));
create index exports_unseen on exports (tenant_id) where status = 'CREATED' and writers is null;
