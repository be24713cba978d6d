-- Where the events of a run begin in the sequence of its thread (functions/runs/new_first_seq.sql). Set by the first claim; null for a run
-- that was not claimed yet, or whose first claim was by an earlier release.
alter table runs add column first_seq bigint;
create index runs_first_seq on runs (thread_id, first_seq) where first_seq is not null;
