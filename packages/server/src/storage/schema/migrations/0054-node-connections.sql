-- How many connections a node may have with all of its processes. Nodes that execute no runs report themselves too: without slots,
-- and as draining, so that no release takes them for workers. Null for a node of an earlier release.
alter table workers add column connections integer;
