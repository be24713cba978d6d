-- Ranks of single fields of a run of a trace; null while the rank of the row says them (functions/traces/trace_merge.sql).
alter table trace_runs add column ranks jsonb;
