// The filter of the runs page: its query string, and what the server is asked for.
import type { RunStatus } from '../api/statuses.ts';
import { metadataOf } from '../app/search-text.ts';

export interface RunFilter {
  status?: RunStatus[] | undefined;
  graph?: string | undefined;
  thread?: string | undefined;
  meta?: string | undefined;
  since?: '15m' | '1h' | '1d' | '7d' | undefined;
  /** Created at this time or later, instead of `since`. */
  from?: string | undefined;
  /** Created before this time. */
  to?: string | undefined;
  /** Ended at this time or later. */
  ended_from?: string | undefined;
  /** Ended before this time. */
  ended_to?: string | undefined;
  sort?: 'asc' | 'desc' | undefined;
}

export const spans = { '15m': 15 * 60_000, '1h': 3_600_000, '1d': 86_400_000, '7d': 7 * 86_400_000 } as const;

export const isFiltered = (filter: RunFilter): boolean => {
  const { status, graph, thread, meta, since, from, to, ended_from, ended_to } = filter;
  return [status, graph, thread, meta, since, from, to, ended_from, ended_to].some(
    (value) => value !== undefined,
  );
};

/** Runs are created from the first time on, and before the second one. */
export const createdWithin = (
  { since, from, to }: Pick<RunFilter, 'since' | 'from' | 'to'>,
  nowMs: number,
): { fromMs: number | undefined; toMs: number | undefined } => ({
  fromMs: from === undefined ? since && nowMs - spans[since] : Date.parse(from),
  toMs: to === undefined ? undefined : Date.parse(to),
});

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

/** What a filter asks the server for. The statuses are separate, because bulk actions restrict them. */
export const conditionsOf = (filter: RunFilter, nowMs: number) => {
  const { graph, thread, meta } = filter;
  const { fromMs, toMs } = createdWithin(filter, nowMs);
  const ended = endedWithin(filter);
  return {
    ...(graph === undefined ? {} : { graph_id: graph }),
    ...(thread === undefined ? {} : { thread_id: thread }),
    ...(metadataOf(meta) === undefined ? {} : { metadata: metadataOf(meta) }),
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
  ...(filter.status === undefined ? {} : { status: filter.status }),
  ...conditionsOf(filter, nowMs),
});
