// Version 2 of the reads of threads, and the groups of version 1. Turns are the roots that have the id of a thread; tokens and costs are
// those of all trace runs that have it.
import {
  absentThreadStats,
  type RouteInput,
  type RunGroup,
  type ThreadAggregates,
  type threadReadRoutes,
  type ThreadStats,
} from '@svc/contract';
import { invalid, Problem } from '@svc/contract/problem';
import type { TraceRunSums } from '../../storage/tracing/trace-run-sums.ts';
import type { TraceRunScope } from '../../storage/tracing/trace-scope.ts';
import type { TraceStorage } from '../../storage/tracing/traces.ts';
import { type TraceRunPage, withTimeoutAdvice } from '../traces/run-page.ts';
import { type SelectedPage, toItems } from '../traces/run-read-service.ts';
import { type RunSelection, toScope } from '../traces/run-scope.ts';
import { payloadsOf, selectedMembers } from '../traces/selected-run.ts';
import { type TraceService, withTotals } from '../traces/trace-service.ts';
import { ofThreads, toThread } from './trace-thread-service.ts';

const pageDefault = 20;
const groupsDefault = 100;

type GroupQuery = Omit<RouteInput<(typeof threadReadRoutes)['groupRuns']>['body'], 'group_by'>;

type AggregateQuery = RouteInput<(typeof threadReadRoutes)['getThreadAggregates']>['body'] & {
  min_start_time: string;
};

export class ThreadReadService {
  readonly #service: TraceService;
  readonly #traces: TraceStorage;

  constructor(service: TraceService, traces: TraceStorage) {
    this.#service = service;
    this.#traces = traces;
  }

  /** A page of turns, oldest first. */
  async turns(
    tenant_id: string,
    thread: { project_id: string; thread_id: string },
    selection: RunSelection,
    { selects = [], cursor, page_size = pageDefault }: SelectedPage,
  ): Promise<TraceRunPage> {
    const { project_id, thread_id } = thread;
    const query = { ...selection, session: [project_id], thread_id, is_root: true };
    const found = await this.#service.search(
      tenant_id,
      { ...query, order: 'asc', limit: page_size, cursor },
      payloadsOf(selects),
    );
    const rows = withTotals(found.rows, await this.#service.totalsOf(tenant_id, found.rows));
    const ids = rows.map(({ id }) => id);
    const numbers = selects.includes('TURN_NUMBER')
      ? await withTimeoutAdvice(
          'The numbering of turns',
          this.#traces.turnNumbers(tenant_id, project_id, thread_id, ids),
        )
      : undefined;
    const items = rows.map((row) => {
      const members = selectedMembers(row, ['TRACE_ID', ...selects.filter((field) => field !== 'ID')]);
      const [latency] = selects.includes('LATENCY') ? selectedMembers(row, ['LATENCY_SECONDS']) : [];
      const named = latency === undefined ? [] : [latency.replace('latency_seconds', 'latency')];
      const number = numbers?.get(row.id);
      return `{${[...members, ...named, ...(number === undefined ? [] : [`"turn_number":${number}`])].join(',')}}`;
    });
    return toItems(found, items);
  }

  async stats(
    tenant_id: string,
    thread: { session_id: string; thread_id: string; filter?: string | undefined },
    selects: readonly string[] = [],
  ): Promise<ThreadStats> {
    if (selects.length === 0) throw invalid(['query', 'selects'], 'selects must name at least one statistic');
    assertComputed(selects, 'selects');
    const { session_id, thread_id, filter } = thread;
    const all = toScope(tenant_id, { session: [session_id], thread_id, trace_filter: filter });
    const { extent, roots, sums } = await this.#sums(all, turnFields, selects);
    const values = {
      turns: extent?.turns,
      first_start_time: extent?.first_start_time,
      last_start_time: extent?.last_start_time,
      last_end_time: extent?.last_end_time,
      ...toSums(roots, sums),
    };
    return selected(values, selects);
  }

  async aggregates(tenant_id: string, query: AggregateQuery): Promise<ThreadAggregates> {
    const { project_id, select, min_start_time, max_start_time, filter, trace_filter, tree_filter } = query;
    assertComputed(select, 'select');
    const scope = toScope(tenant_id, {
      session: [project_id],
      start_time: min_start_time,
      end_time: max_start_time,
      trace_filter: both(filter, trace_filter),
      tree_filter,
    });
    const { extent, roots, sums } = await this.#sums(ofThreads(scope), countFields, select);
    const values = {
      thread_count: extent?.threads,
      trace_count: extent?.turns,
      error_rate: roots && (roots.run_count === 0 ? null : roots.error_count / roots.run_count),
      first_token_p50_seconds: sums?.first_token_p50,
      first_token_p99_seconds: sums?.first_token_p99,
      ...toSums(roots, sums),
    };
    return selected(values, select);
  }

  async groups(tenant_id: string, query: GroupQuery): Promise<{ groups: RunGroup[]; total: number }> {
    const { session_id, filter, start_time, end_time, limit = groupsDefault, offset = 0 } = query;
    const scope = toScope(tenant_id, { session: [session_id], filter, start_time, end_time });
    const { ids, total } = await withTimeoutAdvice(
      'The list of threads',
      this.#traces.newestThreads(scope, { limit, offset }),
    );
    if (ids.length === 0) return { groups: [], total };
    const span = { tenant_id, session_id, since: scope.since, until: scope.until };
    const sums = await withTimeoutAdvice('The sum of these threads', this.#traces.sumThreads(span, ids));
    const groups = sums.map((one) => toGroup(toThread(one)));
    return { groups: groups.toSorted((a, b) => ids.indexOf(a.group_key) - ids.indexOf(b.group_key)), total };
  }

  /** Executes only the statements that the selected statistics need. */
  async #sums(
    scope: TraceRunScope,
    extentFields: readonly string[],
    selects: readonly string[],
  ): Promise<Sums> {
    const needs = (fields: readonly string[]): boolean => selects.some((field) => fields.includes(field));
    const turns = { ...scope, is_root: true };
    const what = 'The sum of these threads';
    return {
      extent: needs(extentFields)
        ? await withTimeoutAdvice(what, this.#traces.threadExtent(turns))
        : undefined,
      roots: needs(rootFields) ? await withTimeoutAdvice(what, this.#traces.sum(turns)) : undefined,
      sums: needs(sumFields) ? await withTimeoutAdvice(what, this.#traces.sum(scope)) : undefined,
    };
  }
}

interface Sums {
  extent: Awaited<ReturnType<TraceStorage['threadExtent']>> | undefined;
  /** Of the turns. */
  roots: TraceRunSums | undefined;
  /** Of all trace runs. */
  sums: TraceRunSums | undefined;
}

const turnFields = ['TURNS', 'FIRST_START_TIME', 'LAST_START_TIME', 'LAST_END_TIME'];
const countFields = ['THREAD_COUNT', 'TRACE_COUNT'];
const rootFields = ['LATENCY_P50', 'LATENCY_P99', 'ERROR_RATE'];
const sumFields = [
  'PROMPT_TOKENS',
  'COMPLETION_TOKENS',
  'TOTAL_TOKENS',
  'PROMPT_COST',
  'COMPLETION_COST',
  'TOTAL_COST',
  'FIRST_TOKEN_P50',
  'FIRST_TOKEN_P99',
];

const assertComputed = (selects: readonly string[], name: string): void => {
  const absent = selects.filter((field) => absentThreadStats.includes(field));
  if (absent.length > 0)
    throw new Problem('not_supported', `${name}: this server does not compute ${absent.join(', ')}`);
};

const costOf = (decimal: string | null | undefined): number | null | undefined =>
  typeof decimal === 'string' ? Number(decimal) : decimal;

const toSums = (roots: TraceRunSums | undefined, sums: TraceRunSums | undefined) => ({
  latency_p50_seconds: roots?.latency_p50,
  latency_p99_seconds: roots?.latency_p99,
  prompt_tokens: sums?.prompt_tokens,
  completion_tokens: sums?.completion_tokens,
  total_tokens: sums?.total_tokens,
  prompt_cost: costOf(sums?.prompt_cost),
  completion_cost: costOf(sums?.completion_cost),
  total_cost: costOf(sums?.total_cost),
});

/** The values of the selected statistics: LATENCY_P50 selects `latency_p50_seconds`. */
const selected = <T extends object>(values: T, selects: readonly string[]): Partial<T> => {
  const isSelected = ([name]: [string, unknown]): boolean =>
    selects.includes(name.replace(/_seconds$/, '').toUpperCase());
  return Object.fromEntries(Object.entries(values).filter(isSelected)) as Partial<T>;
};

const both = (first: string | undefined, second: string | undefined): string | undefined =>
  first && second ? `and(${first}, ${second})` : (first ?? second);

const toGroup = (thread: ReturnType<typeof toThread>): RunGroup => ({
  group_key: thread.thread_id,
  filter: `eq(thread_id, ${JSON.stringify(thread.thread_id)})`,
  count: thread.count,
  total_tokens: thread.total_tokens,
  total_cost: costOf(thread.total_cost) ?? null,
  prompt_tokens: thread.prompt_tokens,
  completion_tokens: thread.completion_tokens,
  min_start_time: thread.min_start_time,
  max_start_time: thread.max_start_time,
  latency_p50: thread.latency_p50,
  latency_p99: thread.latency_p99,
  first_inputs: thread.first_inputs,
  last_outputs: thread.last_outputs,
  last_error: thread.last_error,
  feedback_stats: null,
});
