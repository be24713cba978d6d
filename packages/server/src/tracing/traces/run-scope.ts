// Converts the parameters of a query to the set of trace runs that it selects.
import type { RouteInput, traceRoutes } from '@svc/contract';
import { invalid } from '@svc/contract/problem';
import type { TraceRunCondition } from '../../storage/tracing/trace-condition.ts';
import type { TraceRunScope } from '../../storage/tracing/trace-scope.ts';
import { FilterError, filterProblem } from '../filter/parse.ts';
import { parseFilter } from '../filter/parse-filter.ts';
import { microsOf } from '../../api/time.ts';

/** `session_id` is another name of `session`. `execution_order` is 1: the root of a trace is the first one. Times have microseconds. */
export type RunSelection = Partial<RouteInput<(typeof traceRoutes)['getRunStats']>['body']> & {
  thread_id?: string | undefined;
  /** The field of the request that has `filter`, for its errors. */
  filter_name?: string | undefined;
};

export const toScope = (tenant_id: string, selection: RunSelection): TraceRunScope => {
  const filter = joined([
    ...plainConditions(selection),
    ...filterOf(selection.filter, selection.filter_name ?? 'filter'),
  ]);
  return {
    tenant_id,
    session_ids: projectsOf(selection),
    trace_id: selection.trace ?? null,
    is_root: selection.execution_order === 1 ? true : (selection.is_root ?? null),
    since: latestOrEarliest([selection.start_time ?? null, ...boundsIn(filter, 'gt')], 'latest'),
    until: latestOrEarliest([selection.end_time ?? null, ...boundsIn(filter, 'lt')], 'earliest'),
    filter,
    trace_filter: joined(filterOf(selection.trace_filter, 'trace_filter')),
    tree_filter: joined(filterOf(selection.tree_filter, 'tree_filter')),
  };
};

const projectsOf = ({ session, session_id }: RunSelection): string[] | null => {
  if (session !== undefined && session_id !== undefined)
    throw invalid(['body', 'session_id'], 'session_id and session are the same condition; send one of them');
  return session ?? session_id ?? null;
};

const joined = (of: TraceRunCondition[]): TraceRunCondition | null =>
  of.length > 1 ? { is: 'all', of } : (of[0] ?? null);

const filterOf = (text: string | undefined, name: string): TraceRunCondition[] => {
  if (text === undefined || text.trim() === '') return [];
  try {
    return [parseFilter(text)];
  } catch (error) {
    throw error instanceof FilterError ? filterProblem(error, name) : error;
  }
};

const plainConditions = ({
  id,
  thread_id,
  parent_run,
  run_type,
  reference_example,
  error,
}: RunSelection): TraceRunCondition[] => {
  const conditions: TraceRunCondition[] = [];
  const text = (
    field: 'id' | 'thread_id' | 'parent_run_id' | 'run_type' | 'reference_example_id',
    values: string[],
  ): void => {
    conditions.push({ is: 'text', field, test: { op: 'in', values } });
  };
  if (id !== undefined) text('id', id);
  if (thread_id !== undefined) text('thread_id', [thread_id]);
  if (parent_run !== undefined) text('parent_run_id', [parent_run]);
  if (run_type !== undefined) text('run_type', [run_type]);
  if (reference_example !== undefined) text('reference_example_id', reference_example);
  const noError: TraceRunCondition = { is: 'empty', field: 'error' };
  if (error !== undefined) conditions.push(error ? { is: 'not', of: noError } : noError);
  return conditions;
};

/** Bounds of start_time that every match of the filter satisfies. They limit the days that are searched. */
const boundsIn = (filter: TraceRunCondition | null, side: 'gt' | 'lt'): string[] => {
  if (filter?.is === 'all') return filter.of.flatMap((inner) => boundsIn(inner, side));
  const isBound =
    filter?.is === 'time' &&
    filter.field === 'start_time' &&
    (filter.op === 'eq' || filter.op.startsWith(side));
  return isBound ? [filter.time] : [];
};

const latestOrEarliest = (times: (string | null)[], which: 'latest' | 'earliest'): string | null => {
  const sign = which === 'latest' ? 1n : -1n;
  let found: string | null = null;
  for (const time of times) {
    if (time === null) continue;
    if (found === null || (microsOf(time) - microsOf(found)) * sign > 0n) found = time;
  }
  return found;
};
