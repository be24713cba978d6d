// The filter of the threads page: the fields of its query string, and the conditions of the search request.
import type { Thread } from '@svc/sdk';
import type { ThreadStatus } from '../api/statuses.ts';
import { metadataOf } from '../app/metadata-filter.ts';
import { withinSpan, type TimeSpan } from '../plots/time-span.ts';

/** The time is the one by which the list is sorted: the server reads one range of its index. */
export interface ThreadFilter extends TimeSpan {
  status?: ThreadStatus | undefined;
  graph?: string | undefined;
  owner?: string | undefined;
  meta?: string | undefined;
  sort?: ThreadOrder | undefined;
}

export const threadOrders = ['state_updated_at', 'created_at', 'updated_at'] as const;
export type ThreadOrder = (typeof threadOrders)[number];
export const defaultOrder: ThreadOrder = 'state_updated_at';

/** The metadata key of the user who has created a thread. */
const ownerKey = 'svc_auth_user_id';

/** Undefined without authentication. */
export const ownerOf = ({ metadata }: Pick<Thread, 'metadata'>): string | undefined => {
  const owner = metadata[ownerKey];
  return typeof owner === 'string' ? owner : undefined;
};

export const isFiltered = ({ status, graph, owner, meta, since, from, to }: ThreadFilter): boolean =>
  [status, graph, owner, meta, since, from, to].some((value) => value !== undefined);

const isoOf = (ms: number): string => new Date(ms).toISOString();

const fields = {
  state_updated_at: ['state_updated_after', 'state_updated_before'],
  created_at: ['created_after', 'created_before'],
  updated_at: ['updated_after', 'updated_before'],
} as const;

/** The conditions of a search or count request. Throws if the metadata filter has a problem. */
export const conditionsOf = (filter: ThreadFilter, nowMs: number) => {
  const { status, graph, owner, meta, sort = defaultOrder } = filter;
  const { fromMs, toMs } = withinSpan(filter, nowMs);
  const [after, before] = fields[sort];
  const metadata = {
    ...metadataOf(meta),
    ...(graph === undefined ? {} : { graph_id: graph }),
    ...(owner === undefined ? {} : { [ownerKey]: owner }),
  };
  return {
    ...(status === undefined ? {} : { status }),
    ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
    ...(fromMs === undefined ? {} : { [after]: isoOf(fromMs) }),
    ...(toMs === undefined ? {} : { [before]: isoOf(toMs) }),
  };
};
