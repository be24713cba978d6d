-- formerly sha256:8759f8011c9a124ab73681ab5b3453336aef5a1a755b8e3ac11bac0395d6961c
-- Traces of the server's own runs whose executor was lost before it could say how they ended.

create index trace_runs_own_pending on trace_runs (updated_at)
  where status = 'pending' and metadata ? 'graph_id' and metadata ->> 'run_id' = trace_id::text;
