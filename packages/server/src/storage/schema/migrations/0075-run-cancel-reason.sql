-- Why a run was cancelled; null for every other run.
alter table runs add column cancel_reason text;
