// Runs as rows of a list.
/** The time at which the run `r` ended: it does not change afterwards. */
export const endedAt = `case when r.status not in ('pending', 'running') then r.updated_at end`;

/** Columns of a run in a list; JSON is text. */
const listColumns = {
  run_id: 'r.run_id',
  thread_id: 'r.thread_id',
  assistant_id: 'r.assistant_id',
  created_at: 'r.created_at',
  updated_at: 'r.updated_at',
  started_at: 'r.started_at',
  ended_at: endedAt,
  status: 'r.status',
  metadata: 'r.metadata::text',
  multitask_strategy: 'r.multitask_strategy',
  kwargs: 'r.kwargs',
  attempt: 'r.attempt',
  lost_attempts: 'r.lost_attempts::text',
  error: 'r.error',
  cancel_reason: 'r.cancel_reason',
};

/** The selected columns, and the id; `long` names those of any size. */
export const listed = (select: readonly string[] | undefined) => {
  const columns = Object.fromEntries(
    Object.entries(listColumns).filter(([name]) => name === 'run_id' || (select?.includes(name) ?? true)),
  );
  const long = ['metadata', 'kwargs', 'lost_attempts', 'error'].filter((name) => name in columns);
  return { columns, long };
};
