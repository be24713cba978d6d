-- Stores the number of pending runs for readers that must be fast with long queues. Up to 1,000 runs nothing is stored: readers
-- count them.
create or replace function count_queued_runs() returns void
language plpgsql as $$
declare
  v_pending bigint;
begin
  select count(*) into v_pending from (select 1 from runs r where r.status = 'pending' order by r.not_before limit 1001) s;
  if v_pending > 1000 then
    select count(*) into v_pending from (select 1 from runs r where r.status = 'pending' order by r.not_before limit 1000000) s;
  end if;
  update run_queue_size q set pending = v_pending, counted_at = now() where q.pending <> v_pending;
end
$$;
