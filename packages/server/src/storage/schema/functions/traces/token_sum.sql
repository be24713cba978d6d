-- A sum of token counts as a bigint; 0 without rows. Clients choose the counts, so the sum is capped at the largest bigint: an error would
-- fail the statement that counts for all workspaces.
create or replace function token_sum(p_sum numeric) returns bigint language sql immutable as $$
  select least(coalesce(p_sum, 0), 9223372036854775807)::bigint
$$;
