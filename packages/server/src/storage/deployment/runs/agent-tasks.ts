// Runs as tasks of the A2A protocol. A task is a run of an assistant, together with the runs that continued it after interrupts. These runs name
// the task in their metadata. No other run is between them on the thread, because it would have ended the interrupt.
import type { Database } from '../../postgres/database.ts';
import type { RowFilter } from '../../postgres/row-filter.ts';
import { readStatement } from '../../postgres/statement.ts';

export type AgentTaskState = 'submitted' | 'working' | 'input-required' | 'completed' | 'canceled' | 'failed';

export interface AgentTaskRow {
  task_id: string;
  thread_id: string;
  /** The first message of the task; null for runs of other protocols. */
  message_id: string | null;
  /** The newest run of the task. */
  run_id: string;
  state: AgentTaskState;
  /** JSON text: the error of the newest run. */
  error: string | null;
  /** JSON text: interrupts at which the thread waits, by the id of their task. */
  interrupts: string;
  /** When the state of the thread changed last. */
  state_updated_at: string;
  updated_at: string;
}

/** The key in a run's metadata for the task that the run continues. */
export const taskKey = 'a2a_task_id';
/** The key in a run's metadata for the id of the message that started the run. */
export const messageKey = 'a2a_message_id';

/** How many runs after the first run of a task are searched for runs that continue it. */
const continuedMax = 1_000;

/** The state of a task by its newest run `l` on thread `t`. If other runs followed a run that stopped at interrupts, the task cannot be continued. */
const state = `case l.status when 'pending' then 'submitted' when 'running' then 'working' when 'interrupted' then 'canceled'
    when 'success' then case
      when l.is_newest and t.status = 'interrupted' then 'input-required'
      when exists (select from checkpoints c where c.thread_id = t.thread_id and c.checkpoint_ns = ''
        and c.checkpoint_id = l.final_head and json_array_length(c.shape::json -> 'tasks') > 0) then 'canceled'
      else 'completed' end
    else 'failed' end`;
const columns = `t.thread_id, l.run_id, l.error, l.updated_at, t.interrupts::text as interrupts, t.state_updated_at, ${state} as state`;

export const statements = {
  find: readStatement<AgentTaskRow>(`select f.run_id as task_id, f.metadata ->> '${messageKey}' as message_id, ${columns}
      from runs f join threads t using (thread_id), lateral (
        select n.*, not exists (select from runs o where o.thread_id = n.thread_id
          and (o.created_at, o.run_id) > (n.created_at, n.run_id)) as is_newest
        from (select * from runs r where r.thread_id = f.thread_id and (r.created_at, r.run_id) >= (f.created_at, f.run_id)
          order by r.created_at, r.run_id limit ${continuedMax}) n
        where n.run_id = f.run_id or n.metadata ->> '${taskKey}' = f.run_id::text
        order by n.created_at desc, n.run_id desc limit 1
      ) l
      where f.run_id = $1 and f.assistant_id = $2 and not f.metadata ? '${taskKey}' and t.metadata @@ $3::jsonpath`),
  list: readStatement<AgentTaskRow & { begun_at: string; total: number }>(`with placed as (
        select r.*, coalesce(r.metadata ->> '${taskKey}', r.run_id::text) as task_id,
          row_number() over (order by r.created_at desc, r.run_id desc) = 1 as is_newest
        from runs r where r.thread_id = $1
      ), newest as (
        select distinct on (p.task_id) p.*, min(p.created_at) over task as begun_at,
          bool_or(p.run_id::text = p.task_id) over task as has_first,
          max(p.metadata ->> '${messageKey}') filter (where p.run_id::text = p.task_id) over task as message_id
        from placed p where p.assistant_id = $2
        window task as (partition by p.task_id)
        order by p.task_id, p.created_at desc, p.run_id desc
      ), tasks as (
        select l.task_id::uuid as task_id, l.message_id, l.begun_at, ${columns}
        from newest l join threads t using (thread_id)
        where l.has_first and t.metadata @@ $3::jsonpath
          and ($5::timestamptz is null or l.updated_at >= $5)
      )
      select x.*, (count(*) over ())::integer as total from tasks x where $4::text is null or x.state = $4
      order by x.begun_at desc, x.task_id desc limit $6 offset $7`),
};

export interface AgentTaskPage {
  state?: AgentTaskState | undefined;
  updatedSince?: string | undefined;
  limit: number;
  offset: number;
}

export type AgentTaskStorage = ReturnType<typeof agentTaskStorage>;

export const agentTaskStorage = (db: Database) => ({
  async find(task_id: string, assistant_id: string, access: RowFilter): Promise<AgentTaskRow | undefined> {
    return (await db.query(statements.find, [task_id, assistant_id, access.jsonpath]))[0];
  },

  /** Tasks of one thread, newest first. `total`: how many there are; 0 for a page after the last one. */
  async list(
    thread_id: string,
    assistant_id: string,
    { state: only, updatedSince, limit, offset }: AgentTaskPage,
    access: RowFilter,
  ): Promise<{ rows: AgentTaskRow[]; total: number }> {
    const values = [
      thread_id,
      assistant_id,
      access.jsonpath,
      only ?? null,
      updatedSince ?? null,
      limit,
      offset,
    ];
    const rows = await db.query(statements.list, values);
    return { rows, total: rows[0]?.total ?? 0 };
  },
});
