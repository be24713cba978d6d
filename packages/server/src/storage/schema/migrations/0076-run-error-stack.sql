-- JSON text: the stack of the error with which a run ended, and those of its causes; null for other ends. Clients that only get the error do not get it.
alter table runs add column error_stack text;
