-- formerly sha256:2a89661b49b63e6c0072041997cd6e4a95423210611d50d5cd7bb18506c05e95
-- What goes by itself: threads and items after their time to live, checkpoints that a thread no longer needs, blobs
-- that nothing refers to; and who sees to it.

-- The defaults of new threads and items, as the node that started last was configured. Threads and items are made in
-- several places, executors and other functions among them, which know no configuration: columns take it from here.
create table expiry_defaults (
  only_row             boolean primary key default true check (only_row),
  thread_ttl_minutes   double precision,
  thread_ttl_strategy  text check (thread_ttl_strategy in ('delete', 'keep_latest')),
  item_ttl_minutes     double precision,
  item_refresh_on_read boolean not null default true
);
insert into expiry_defaults default values;

-- plpgsql, because it keeps its plans: these run for every thread and item.
create function default_thread_ttl() returns double precision
language plpgsql stable as $$ begin return (select d.thread_ttl_minutes from expiry_defaults d); end $$;

create function default_thread_ttl_strategy() returns text
language plpgsql stable as $$ begin return (select d.thread_ttl_strategy from expiry_defaults d); end $$;

create function default_item_ttl() returns double precision
language plpgsql stable as $$ begin return (select d.item_ttl_minutes from expiry_defaults d); end $$;

create function items_refresh_on_read() returns boolean
language plpgsql stable as $$ begin return (select d.item_refresh_on_read from expiry_defaults d); end $$;

alter table threads
  add column ttl_minutes  double precision check (ttl_minutes > 0),
  add column ttl_strategy text check (ttl_strategy in ('delete', 'keep_latest')),
  -- When the ttl was given, if that was after the thread was made: a ttl never begins in the past.
  add column ttl_since    timestamptz,
  -- The last change that keep_latest has been applied after.
  add column ttl_done_at  timestamptz,
  -- Grows when checkpoints of the thread or blobs of its family are removed: a state update that began before is
  -- refused, because what it believes to be stored may be gone.
  add column removals     integer not null default 0,
  add check ((ttl_minutes is null) = (ttl_strategy is null));
alter table threads
  alter column ttl_minutes set default default_thread_ttl(),
  alter column ttl_strategy set default default_thread_ttl_strategy(),
  -- When the ttl is over; null when there is nothing to do. Set by the trigger.
  add column expires_at timestamptz;
create index threads_expiring on threads (expires_at) where expires_at is not null;

alter table store_items
  add column ttl_minutes double precision check (ttl_minutes > 0),
  add column expires_at  timestamptz;
create index store_items_expiring on store_items (expires_at) where expires_at is not null;

-- Families of copies that may have blobs which nothing refers to any more.
create table blob_garbage (
  blob_space uuid primary key,
  since      timestamptz not null default now(),
  -- Not at once: whoever read a checkpoint a moment ago is about to read its blobs.
  due_at     timestamptz not null default now() + interval '1 minute'
);
create index blob_garbage_due on blob_garbage (due_at);

-- Chores that recur, each done by one node at a time.
create table duties (
  name        text primary key,
  lease_token bigint      not null default 0,
  lease_until timestamptz,
  next_at     timestamptz not null default now()
);
