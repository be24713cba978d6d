-- A sum of token counts as a bigint; 0 for no rows. Counts are chosen by senders, so the sum is cut off at the largest bigint: an error
-- would fail the statement that counts for all workspaces.
create or replace function token_sum(p_sum numeric) returns bigint language sql immutable as $$
  select least(coalesce(p_sum, 0), 9223372036854775807)::bigint
$$;
