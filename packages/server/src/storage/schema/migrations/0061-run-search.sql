-- Searches of runs across threads: the newest runs of each status. With thread_id the order is not that of any index of the queue
-- (0051-run-queue.sql), so no statement of the queue gets this index.
create index runs_by_status on runs (status, created_at, thread_id, run_id);
