-- Identifies the process of a worker. Another worker on the same machine can then find out that the process has ended.
alter table workers
  -- The boot, pid namespace and host in which the process id is valid; null where no other process can check it.
  add column machine text,
  -- Process id and start time.
  add column process text,
  -- When another worker found that the process had ended without a report.
  add column ended_at timestamptz;
