-- Prevents every deletion of a default assistant except by prune_default_assistant(), because its crons and runs would be
-- deleted with it. Servers of an earlier release delete default assistants of graphs that they do not know.
create or replace function keep_default_assistant() returns trigger
language plpgsql as $$
begin
  if current_setting('svc.pruned_assistant', true) = old.assistant_id::text then return old; end if;
  return null;
end
$$;

create or replace trigger assistants_default_kept before delete on assistants for each row
when (old.is_default) execute function keep_default_assistant();
