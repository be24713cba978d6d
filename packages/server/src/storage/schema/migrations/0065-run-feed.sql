-- The feed of run changes reads runs in the order of their last change (storage/deployment/run-changes.ts). A run gets its only entry when it
-- ends, or is given back to the queue: running runs are few, and pending ones that were never claimed are found by their time of creation. Their
-- status, which runs_by_status contains, changes at the same time, so this index keeps no update from being HOT. No other statement orders by
-- updated_at, so none gets this index.
create index runs_settled on runs (updated_at) where status <> 'running' and (status <> 'pending' or lease_token > 0);
