-- Ends of runs and state updates that commit_batch() has stored, by their writer. When the response of a flush is lost, its repetition finds
-- here what was stored: the row of a stateless run is deleted with its end, and the thread of a state update may have changed since.
create table stored_endings (
  owner       uuid        not null,
  -- 0 for a state update.
  lease_token bigint      not null,
  stored_at   timestamptz not null default now(),
  primary key (owner, lease_token)
);
create index stored_endings_age on stored_endings (stored_at);
