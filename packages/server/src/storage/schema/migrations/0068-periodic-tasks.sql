-- Renames the table of periodic tasks. The view has the old name for servers of the previous release, which also write to it.
alter table duties rename to periodic_tasks;
alter table periodic_tasks rename constraint duties_pkey to periodic_tasks_pkey;
create view duties as select * from periodic_tasks;
