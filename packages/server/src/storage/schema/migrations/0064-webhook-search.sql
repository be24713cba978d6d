-- Searches of webhook deliveries across runs: the newest deliveries of each status. No other statement orders by these columns, so none gets
-- this index.
create index webhook_deliveries_by_status on webhook_deliveries (status, created_at, delivery_id);
