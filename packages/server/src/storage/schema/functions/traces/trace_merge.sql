-- Decides which fields of a stored trace run (p_old_…) are replaced by those of a trace write (p_new_…). Every field has the rank of the write
-- that set it: 0 for a POST, the rank of the PATCH otherwise. The higher rank has priority; with equal ranks, the later arrival. So the order
-- in which writes of different ranks arrive does not matter.
--
-- A field's rank is stored only when it differs from the default: the rank of the row for a field with its bit in `patched`, else 0. `ranks`
-- holds the exceptions, {"<bit>": rank, "m": {"<metadata key>": rank}}, or null. `wins` has the bits of the fields whose new value, if
-- there is one, has priority. The bits are those of trace_bit().
create or replace function trace_merge(
  p_old_rank bigint, p_old_patched integer, p_old_ranks jsonb, p_old_metadata jsonb,
  p_new_rank bigint, p_new_patched integer, p_new_ranks jsonb, p_new_metadata jsonb,
  out wins integer, out rank bigint, out patched integer, out ranks jsonb, out metadata jsonb
) language plpgsql immutable as $$
declare
  c_metadata constant integer := trace_bit('metadata');
  c_sent_start constant integer := trace_bit('sent_start');
  c_fields constant integer := trace_bit('sent_start') - 1;
  c_start constant integer := trace_bit('start_time');
  v_bit integer;
  v_old_rank bigint;
  v_new_rank bigint;
  v_keys jsonb := '{}';
begin
  patched := p_old_patched | p_new_patched;
  rank := greatest(case when p_old_patched & c_fields = 0 then 0 else p_old_rank end, case when p_new_patched & c_fields = 0 then 0 else p_new_rank end);

  if p_old_ranks is null and p_new_ranks is null
      and ((rank = p_old_rank or p_old_patched & ~p_new_patched & c_fields = 0) and (rank = p_new_rank or p_new_patched & ~p_old_patched & c_fields = 0)) then
    wins := ~p_old_patched | case when p_new_rank >= p_old_rank then p_new_patched else 0 end;
  else
    wins := 0;
    ranks := '{}';
    for v_shift in 0..26 loop
      v_bit := 1 << v_shift;
      v_old_rank := case when p_old_patched & v_bit = 0 then 0 else coalesce((p_old_ranks ->> v_bit::text)::bigint, p_old_rank) end;
      v_new_rank := case when p_new_patched & v_bit = 0 then 0 else coalesce((p_new_ranks ->> v_bit::text)::bigint, p_new_rank) end;
      if v_new_rank >= v_old_rank then wins := wins | v_bit; end if;
      if patched & v_bit <> 0 and greatest(v_old_rank, v_new_rank) <> rank then
        ranks := ranks || jsonb_build_object(v_bit::text, greatest(v_old_rank, v_new_rank));
      end if;
    end loop;
  end if;

  -- A start that was sent has priority over one derived from a dotted order. Of two derived starts, that of the winning dotted order is taken.
  if patched & c_sent_start = 0 then
    wins := case when wins & trace_bit('dotted_order') = 0 then wins & ~c_start else wins | c_start end;
  elsif p_old_patched & p_new_patched & c_sent_start = 0 then
    wins := case when p_new_patched & c_sent_start = 0 then wins & ~c_start else wins | c_start end;
  end if;

  if p_new_metadata = '{}' then
    metadata := p_old_metadata;
    v_keys := coalesce(p_old_ranks -> 'm', '{}');
  elsif p_old_metadata = '{}' then
    metadata := p_new_metadata;
    v_keys := coalesce(p_new_ranks -> 'm', '{}');
  else
    v_old_rank := case when p_old_patched & c_metadata = 0 then 0 else coalesce((p_old_ranks ->> c_metadata::text)::bigint, p_old_rank) end;
    v_new_rank := case when p_new_patched & c_metadata = 0 then 0 else coalesce((p_new_ranks ->> c_metadata::text)::bigint, p_new_rank) end;
    metadata := case when v_new_rank >= v_old_rank then p_old_metadata || p_new_metadata else p_new_metadata || p_old_metadata end;
    -- Usually all keys have the same rank: the ranks are equal, or the newer side has every key of the older.
    if not (v_new_rank = v_old_rank and p_old_ranks -> 'm' is null and p_new_ranks -> 'm' is null
        or v_new_rank > v_old_rank and metadata = p_new_metadata and p_new_ranks -> 'm' is null
        or v_new_rank < v_old_rank and metadata = p_old_metadata and p_old_ranks -> 'm' is null) then
      with entries as (
        select key, value, coalesce((p_old_ranks -> 'm' ->> key)::bigint, v_old_rank) as key_rank, 0 as turn
        from jsonb_each(p_old_metadata)
        union all
        select key, value, coalesce((p_new_ranks -> 'm' ->> key)::bigint, v_new_rank), 1 from jsonb_each(p_new_metadata)
      ), newest as (
        select distinct on (key) key, value, key_rank from entries order by key, key_rank desc, turn desc
      )
      select jsonb_object_agg(key, value),
        coalesce(jsonb_object_agg(key, key_rank) filter (where key_rank <> greatest(v_old_rank, v_new_rank)), '{}')
      into metadata, v_keys from newest;
    end if;
  end if;
  if v_keys <> '{}' then ranks := coalesce(ranks, '{}') || jsonb_build_object('m', v_keys); end if;
  if ranks = '{}' then ranks := null; end if;
end $$;
