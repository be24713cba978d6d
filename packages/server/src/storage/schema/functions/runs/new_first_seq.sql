-- The sequence number of the first event of a run that is claimed for the first time. The events of a thread are numbered over all of its
-- runs: an event has `first_seq` of its run, plus an offset that follows from its id in the run's log. Nothing is stored per event, and the
-- number is the same on every node.
--
-- The number is the time of the claim in units of 1/4096 ms since 2025, so it exceeds every number of the thread's earlier runs: runs of a
-- thread execute one after the other, and an event of the log takes 16 numbers, so a run would have to log more than 256,000 events per second
-- from its first claim to its end to reach the numbers of the next one. The numbers are safe integers in JavaScript until 2094.
-- clock_timestamp() and not now(): the transaction may have begun before the previous run ended. If the clock was set back, numbering
-- continues after the newest run, and leaves room for 65,536 logged events.
create or replace function new_first_seq(p_thread_id uuid) returns bigint
language plpgsql as $$
declare
  v_clock bigint := floor(extract(epoch from clock_timestamp() - timestamptz '2025-01-01 00:00:00+00') * 4096000);
  v_newest bigint;
begin
  select max(r.first_seq) into v_newest from runs r where r.thread_id = p_thread_id and r.first_seq is not null;
  return case when v_clock <= v_newest then v_newest + 1048576 else v_clock end;
end
$$;
