// The event log of a run is consistent with its checkpoints.
//
// Invariants of the log of a resumable run, as far as its oldest events were not deleted:
// 1. Ids count from 0 without a gap.
// 2. For each namespace that is streamed, each task with stored writes has its `updates` event exactly once, and no other task has one.
//    Events of one step come before those of the next step.
// 3. Between the `updates` of two steps there is a `values` event. An attempt that resumes repeats the `values` of its checkpoint.
// 4. An attempt begins with `metadata`. Events that belong to no stored write (`custom`, `messages`, `tools`, `tasks`, `debug`) of the step in
//    which an attempt was lost may be there twice.
// With durability `exit` no step is stored before the end: 2 and 3 hold for the events after the last `metadata`.
import { isInternalChannel } from '../../../src/engine/checkpoints/checkpoint-summary.ts';
import type { Checker, Evidence } from './evidence.ts';

interface LoggedRun {
  run_id: string;
  thread_id: string;
  status: string;
  kwargs: string;
}

interface Kwargs {
  stream_mode: string[];
  stream_subgraphs?: boolean;
  durability: string;
}

/** A checkpoint with the ids of the tasks that were committed on it. */
interface Step {
  checkpoint_ns: string;
  shape: string | null;
  done: string[];
}

interface LogEvent {
  id: number;
  event: string;
  data: unknown;
}

/** Channels that the engine stores for a task without an `updates` event. */
const unreported = ['__error__', '__interrupt__', '__resume__', '__error_source_node__'];

/**
 * For every resumable run that streams `updates`: the log has one event for each task with stored writes, none for other tasks, and the
 * events of a step come before those of the next. Ids have no gap. Between the `updates` of two steps there are `values`, if the run
 * streams them. Does not apply to durability `exit`, which stores no steps, and to truncated logs.
 */
export const logsMatchCheckpoints: Checker = async ({ query }) => {
  const runs = await query<LoggedRun>(
    `select run_id, thread_id, status, kwargs from runs
     where log = 'events' and (kwargs::json->>'stream_resumable')::boolean
       and exists (select 1 from run_events e where e.run_id = runs.run_id)`,
  );
  const wrong: string[] = [];
  for (const run of runs)
    for (const what of await checkRun(query, run)) wrong.push(`run ${run.run_id} ${what}`);
  return wrong;
};

const checkRun = async (query: Evidence['query'], run: LoggedRun): Promise<string[]> => {
  const kwargs = JSON.parse(run.kwargs) as Kwargs;
  const log = await readLog(query, run.run_id);
  // A log that was too long keeps only its newest events.
  if (log[0]?.id !== 0) return [];
  const gap = log.findIndex(({ id }, index) => id !== index);
  if (gap !== -1) return [`has event ${log[gap]?.id} in its log instead of ${gap}`];
  if (kwargs.durability === 'exit' || !kwargs.stream_mode.includes('updates')) return [];
  const steps = await readSteps(query, run);
  const namespaces = new Set(steps.map(({ checkpoint_ns }) => checkpoint_ns));
  const wrong: string[] = [];
  for (const ns of namespaces) {
    if (ns !== '' && !kwargs.stream_subgraphs) continue;
    const own = steps.filter(({ checkpoint_ns }) => checkpoint_ns === ns).map(namesOf);
    wrong.push(...checkSteps(ns, own, log), ...checkRepeats(ns, log));
    if (ns === '' && kwargs.stream_mode.includes('values')) wrong.push(...checkValues(own, log));
  }
  return wrong;
};

const readLog = async (query: Evidence['query'], run_id: string): Promise<LogEvent[]> => {
  const rows = await query<{ first_id: number; events: string }>(
    'select first_id, events from run_events where run_id = $1 order by first_id, last_id',
    [run_id],
  );
  return rows.flatMap(({ first_id, events }) => {
    const lines = events.split('\n').slice(0, -1);
    return lines.flatMap((event, at) =>
      at % 2 === 0
        ? [{ id: first_id + at / 2, event, data: JSON.parse(lines[at + 1] ?? 'null') as unknown }]
        : [],
    );
  });
};

const readSteps = (query: Evidence['query'], { run_id, thread_id }: LoggedRun): Promise<Step[]> =>
  query<Step>(
    `select c.checkpoint_ns, c.shape, array(
       select distinct w.task_id from checkpoint_writes w
       where w.thread_id = c.thread_id and w.checkpoint_ns = c.checkpoint_ns and w.checkpoint_id = c.checkpoint_id
         and w.channel <> all ($3)) as done
     from checkpoints c where c.thread_id = $2 and c.run_id = $1 order by c.checkpoint_id`,
    [run_id, thread_id, unreported],
  );

/** The nodes of a step that have committed, sorted; the engine's internal nodes are not reported. */
const namesOf = ({ shape, done }: Step): string[] => {
  const { tasks } = JSON.parse(shape ?? '{"tasks":[]}') as { tasks: { id: string; name: string }[] };
  return tasks
    .flatMap(({ id, name }) => (done.includes(id) && !isInternalChannel(name) ? [name] : []))
    .toSorted();
};

const nodesOf = (ns: string, { event, data }: LogEvent): string[] => {
  if (event !== (ns === '' ? 'updates' : `updates|${ns}`) || typeof data !== 'object' || data === null)
    return [];
  if ('__interrupt__' in data) return [];
  // The engine repeats the updates of another run on the checkpoint that this run continues.
  return isCached(data) ? [] : Object.keys(data);
};

const isCached = (data: unknown): boolean =>
  (data as { __metadata__?: { cached?: boolean } } | null)?.__metadata__?.cached === true;

/** A later attempt must not repeat what the log has of an earlier one. */
const checkRepeats = (ns: string, log: LogEvent[]): string[] => {
  const logged = new Set<string>();
  for (const one of log) {
    for (const node of nodesOf(ns, one)) logged.add(node);
    if (one.event !== (ns === '' ? 'updates' : `updates|${ns}`) || !isCached(one.data)) continue;
    const repeated = Object.keys(one.data as object).filter((node) => logged.has(node));
    if (repeated.length > 0) return [`repeats the updates of ${repeated.join()} in its log`];
  }
  return [];
};

const checkSteps = (ns: string, steps: string[][], log: LogEvent[]): string[] => {
  const logged = log.flatMap((event) => nodesOf(ns, event));
  const where = ns === '' ? '' : ` of ${ns}`;
  let at = 0;
  for (const names of steps) {
    const found = logged.slice(at, at + names.length).toSorted();
    if (found.join() !== names.join())
      return [
        `has committed ${names.join()}${where} after ${at} updates, and its log has ${found.join() || 'nothing'}`,
      ];
    at += names.length;
  }
  return at === logged.length
    ? []
    : [`has ${logged.slice(at).join()}${where} in its log, which never committed`];
};

const checkValues = (steps: string[][], log: LogEvent[]): string[] => {
  const modes = log.flatMap((one): ('updates' | 'values')[] =>
    one.event === 'values' ? ['values'] : nodesOf('', one).map(() => 'updates' as const),
  );
  let at = -1;
  for (const [index, names] of steps.entries()) {
    if (names.length === 0) continue;
    for (let left = names.length; left > 0; left--) at = modes.indexOf('updates', at + 1);
    const isLast = steps.slice(index + 1).every((later) => later.length === 0);
    // The next step is in the log, so the values between the two must be there too.
    if (!isLast && modes[at + 1] !== 'values') return [`has no values after the step of ${names.join()}`];
  }
  return [];
};
