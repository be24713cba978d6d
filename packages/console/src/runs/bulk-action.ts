// What can be done to many runs at once.
import type { RunStatus } from '../api/statuses.ts';

export type BulkAction = 'cancel' | 'retry';

/** A cancelled run is not retried: somebody wanted it to end. */
const statuses = {
  cancel: ['pending', 'running'],
  retry: ['error', 'timeout'],
} as const satisfies Record<BulkAction, readonly RunStatus[]>;

/** The statuses that both the action and the filter allow; a filter without statuses allows all. */
export const statusesFor = (action: BulkAction, filtered: readonly RunStatus[] | undefined): RunStatus[] =>
  statuses[action].filter((status) => filtered?.includes(status) ?? true);

export const actionNames: Record<BulkAction, string> = { cancel: 'Cancel', retry: 'Retry' };

/** `1 run`, `1,284 runs`. */
export const runsText = (count: number, hasMore = false): string =>
  `${count.toLocaleString('en')}${hasMore ? '+' : ''} ${count === 1 && !hasMore ? 'run' : 'runs'}`;
