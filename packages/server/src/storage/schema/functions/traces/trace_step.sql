-- Seconds on a scale of steps of 2 %, so that the middle of a step is within 1 % of all on it. Less than a microsecond is 0; where clocks
-- differ there are times below that.
create or replace function trace_step(p_seconds double precision) returns smallint language sql immutable as $$
  select case when abs(p_seconds) < 0.000001 then 0
    else sign(p_seconds) * (1000 + ceil(ln(abs(p_seconds)) / ln(1.02::double precision))) end::smallint
$$;
