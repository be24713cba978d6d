-- formerly sha256:3d6c4cb470a96e4d8badd44ea888ce8b62b22abdeb2f825cdc45bb7266f5978e
-- What the runs of a project come to, hour by hour: sums of many days add up hours instead of reading runs. An hour that was
-- written to is counted anew from its runs by whoever asks, and written down again once it has been left alone for a while. So
-- nothing has to be taken back when runs merge, come twice or in any order: an hour is right, or known to have changed.
create table trace_hours (
  tenant_id           uuid        not null,
  -- The project.
  session_id          uuid        not null,
  -- When it begins; runs are of the hour in which they started. Those of the partition of odd days are in none.
  hour                timestamptz not null,
  run_count           bigint      not null,
  error_count         bigint      not null,
  -- Of models that no other model has called.
  prompt_tokens       bigint      not null,
  completion_tokens   bigint      not null,
  total_tokens        bigint      not null,
  prompt_cost         numeric,
  completion_cost     numeric,
  total_cost          numeric,
  last_run_start_time timestamptz,
  -- Steps of trace_step(), and how many runs are on each.
  latency_steps       smallint[]  not null,
  latency_runs        integer[]   not null,
  first_token_steps   smallint[]  not null,
  first_token_runs    integer[]   not null,
  primary key (tenant_id, session_id, hour)
);
create index trace_hours_hour on trace_hours (hour);

-- Hours of which something has changed since they were counted. Each batch adds rows of its own, with its runs: what a statement
-- sees of the one it sees of the other, and no two batches wait for each other.
create table trace_hour_changes (
  id         bigint      generated always as identity primary key,
  tenant_id  uuid        not null,
  session_id uuid        not null,
  hour       timestamptz not null,
  changed_at timestamptz not null default clock_timestamp()
);
create index trace_hour_changes_hour on trace_hour_changes (tenant_id, session_id, hour);

do $$
declare
  v_table text;
begin
  foreach v_table in array array['trace_hours', 'trace_hour_changes'] loop
    execute format('grant select on %I to svc_tenant', v_table);
    execute format('alter table %I enable row level security', v_table);
    execute format($p$create policy tenant on %I to svc_tenant
      using (tenant_id = (select current_setting('svc.tenant')::uuid)) with check (tenant_id = current_setting('svc.tenant')::uuid)$p$, v_table);
  end loop;
  grant insert on trace_hour_changes to svc_tenant;
exception when undefined_object or insufficient_privilege then
  raise notice 'no role svc_tenant: row level security is off';
end $$;
