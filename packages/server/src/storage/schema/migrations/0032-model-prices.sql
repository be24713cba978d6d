-- What tokens cost, in US dollars. Rows without a workspace came with the server; those of a workspace go before them.
create table model_prices (
  id                      uuid        primary key,
  tenant_id               uuid        references workspaces on delete cascade,
  name                    text        not null,
  -- A regular expression on the name of the model.
  match_pattern           text        not null,
  provider                text,
  -- Since when; always, when null.
  start_time              timestamptz,
  prompt_cost             numeric     not null,
  completion_cost         numeric     not null,
  -- By the kind of token, decimals as texts.
  prompt_cost_details     jsonb       not null default '{}',
  completion_cost_details jsonb       not null default '{}',
  created_at              timestamptz not null default now()
);
create index model_prices_tenant on model_prices (tenant_id, created_at);

-- List prices for a million tokens, of November 2026 or before. A dated version of a model costs what the model does.
insert into model_prices (id, name, match_pattern, provider, prompt_cost, completion_cost, prompt_cost_details)
select md5('price of ' || name)::uuid, name, '^' || pattern || '(-\d{4}-?\d{2}-?\d{2}|-latest)?$', null, prompt / 1000000, completion / 1000000,
  jsonb_strip_nulls(jsonb_build_object('cache_read', trim_scale(cached / 1000000)::text, 'cache_creation', trim_scale(created / 1000000)::text))
from (values
  ('gpt-5', 'gpt-5', 1.25, 10, 0.125, null::numeric),
  ('gpt-5-mini', 'gpt-5-mini', 0.25, 2, 0.025, null),
  ('gpt-5-nano', 'gpt-5-nano', 0.05, 0.4, 0.005, null),
  ('gpt-4.1', 'gpt-4\.1', 2, 8, 0.5, null),
  ('gpt-4.1-mini', 'gpt-4\.1-mini', 0.4, 1.6, 0.1, null),
  ('gpt-4.1-nano', 'gpt-4\.1-nano', 0.1, 0.4, 0.025, null),
  ('gpt-4o', 'gpt-4o', 2.5, 10, 1.25, null),
  ('gpt-4o-mini', 'gpt-4o-mini', 0.15, 0.6, 0.075, null),
  ('o3', 'o3', 2, 8, 0.5, null),
  ('o4-mini', 'o4-mini', 1.1, 4.4, 0.275, null),
  ('claude-opus-4.5', '(anthropic\.)?claude-opus-4[-.]5', 5, 25, 0.5, 6.25),
  ('claude-opus-4', '(anthropic\.)?claude-opus-4([-.][01])?', 15, 75, 1.5, 18.75),
  ('claude-sonnet-4', '(anthropic\.)?claude-sonnet-4([-.][05])?', 3, 15, 0.3, 3.75),
  ('claude-haiku-4.5', '(anthropic\.)?claude-haiku-4[-.]5', 1, 5, 0.1, 1.25),
  ('claude-3.5-haiku', '(anthropic\.)?claude-3[-.]5-haiku', 0.8, 4, 0.08, 1),
  ('gemini-2.5-pro', '(models/)?gemini-2\.5-pro', 1.25, 10, 0.125, null),
  ('gemini-2.5-flash', '(models/)?gemini-2\.5-flash', 0.3, 2.5, 0.03, null),
  ('gemini-2.0-flash', '(models/)?gemini-2\.0-flash', 0.1, 0.4, 0.025, null)
) as shipped (name, pattern, prompt, completion, cached, created);

do $$ begin
  grant select, insert, update, delete on model_prices to svc_tenant;
  alter table model_prices enable row level security;
  create policy tenant on model_prices to svc_tenant
    using (tenant_id = (select current_setting('svc.tenant')::uuid)) with check (tenant_id = current_setting('svc.tenant')::uuid);
  create policy shipped on model_prices for select to svc_tenant using (tenant_id is null);
exception when undefined_object or insufficient_privilege then
  raise notice 'no role svc_tenant: row level security is off';
end $$;
