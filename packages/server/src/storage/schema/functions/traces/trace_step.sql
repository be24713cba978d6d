-- Maps seconds to a logarithmic scale with steps of 2 %, so that the middle of a step is within 1 % of all its values. Less than a microsecond
-- maps to 0. Durations are negative when clocks differ.
create or replace function trace_step(p_seconds double precision) returns smallint language sql immutable as $$
  select case when abs(p_seconds) < 0.000001 then 0
    else sign(p_seconds) * (1000 + ceil(ln(abs(p_seconds)) / ln(1.02::double precision))) end::smallint
$$;
