// The filter of the runs page: its query string, and the request that it makes.
import type { RunStatus } from '../api/statuses.ts';
import { metadataOf, metadataProblem } from '../app/metadata-filter.ts';
import { isId } from '../app/search-text.ts';
import { visibleText } from '../ui/visible-text.ts';
import { withinSpan, type TimeSpan } from '../plots/time-span.ts';

/** The time is that of the creation. */
export interface RunFilter extends TimeSpan {
  status?: RunStatus[] | undefined;
  graph?: string | undefined;
  thread?: string | undefined;
  meta?: string | undefined;
  /** Ended at this time or later. */
  ended_from?: string | undefined;
  /** Ended before this time. */
  ended_to?: string | undefined;
  sort?: 'asc' | 'desc' | undefined;
  /** Parameters of the address that are no part of the filter. */
  rejected?: string[] | undefined;
}

export const threadProblem = (thread: string): string | undefined =>
  isId(thread) ? undefined : 'Enter the whole id of a thread, such as 0195d2c4-8f2b-7c31-9f0e-1a2b3c4d5e6f.';

/** What is wrong with a filter. No request is sent and no job starts with it: the runs would not be those of the filter. */
export const problemOf = ({ thread, meta, rejected }: RunFilter): string | undefined =>
  rejected === undefined
    ? ((thread && threadProblem(thread)) ?? metadataProblem(meta ?? ''))
    : `The address has parameters that this page does not know: ${visibleText(rejected.join(', '))}.`;

export const isFiltered = (filter: RunFilter): boolean => {
  const { status, graph, thread, meta, since, from, to, ended_from, ended_to } = filter;
  return [status, graph, thread, meta, since, from, to, ended_from, ended_to].some(
    (value) => value !== undefined,
  );
};

/** Runs have ended from the first time on, and before the second one. */
export const endedWithin = ({
  ended_from: from,
  ended_to: to,
}: RunFilter): { fromMs: number | undefined; toMs: number | undefined } => ({
  fromMs: from === undefined ? undefined : Date.parse(from),
  toMs: to === undefined ? undefined : Date.parse(to),
});

const isoOf = (ms: number): string => new Date(ms).toISOString();

/** The fields that the list shows: inputs of runs may be large. */
const select = [
  'run_id',
  'thread_id',
  'assistant_id',
  'created_at',
  'updated_at',
  'ended_at',
  'status',
  'metadata',
  'attempt',
  'error',
] as const;

/** The conditions of a search or of a job; throws if the filter has a problem. */
export const conditionsOf = (filter: RunFilter, nowMs: number) => {
  const problem = problemOf(filter);
  if (problem !== undefined) throw new SyntaxError(problem);
  const { status, graph, thread, meta } = filter;
  const { fromMs, toMs } = withinSpan(filter, nowMs);
  const ended = endedWithin(filter);
  const metadata = metadataOf(meta);
  return {
    ...(status === undefined ? {} : { status }),
    ...(graph === undefined ? {} : { graph_id: graph }),
    ...(thread === undefined ? {} : { thread_id: thread }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(fromMs === undefined ? {} : { created_after: isoOf(fromMs) }),
    ...(toMs === undefined ? {} : { created_before: isoOf(toMs) }),
    ...(ended.fromMs === undefined ? {} : { ended_after: isoOf(ended.fromMs) }),
    ...(ended.toMs === undefined ? {} : { ended_before: isoOf(ended.toMs) }),
  };
};

export const toRequest = (filter: RunFilter, nowMs: number) => ({
  select: [...select],
  limit: 50,
  sort_order: filter.sort ?? ('desc' as const),
  ...conditionsOf(filter, nowMs),
});
