-- Schedules that make runs. What belongs to an assistant or a thread goes with it.
create table crons (
  cron_id          uuid primary key,
  assistant_id     uuid        not null references assistants on delete cascade,
  -- Null: every run gets a thread of its own, or none.
  thread_id        uuid        references threads on delete cascade,
  on_run_completed text        not null default 'delete' check (on_run_completed in ('delete', 'keep')),
  schedule         text        not null,
  timezone         text,
  end_time         timestamptz,
  enabled          boolean     not null default true,
  -- The options of the runs, as JSON text.
  payload          text        not null,
  metadata         jsonb       not null default '{}',
  -- Null when it will not fire again.
  next_run_date    timestamptz,
  -- Why it was disabled, or what became of its last tick, when that made no run.
  last_error       text,
  -- Whom its runs act for, sealed.
  sealed_user      text,
  created_at       timestamptz not null default now(),
  updated_at       timestamptz not null default now()
);
create index crons_due on crons (next_run_date) where enabled and next_run_date is not null;
create index crons_thread on crons (thread_id);
create index crons_assistant on crons (assistant_id);
create index crons_created on crons (created_at, cron_id);
create index crons_metadata on crons using gin (metadata jsonb_path_ops) with (fastupdate = off);

-- Every tick, once: a second one for the same date is refused by the key.
create table cron_ticks (
  cron_id       uuid        not null references crons on delete cascade,
  scheduled_for timestamptz not null,
  fired_at      timestamptz not null default now(),
  -- Null when the tick made none.
  run_id        uuid,
  primary key (cron_id, scheduled_for)
);
create index cron_ticks_fired on cron_ticks (fired_at);
