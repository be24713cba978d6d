import type { Authorizer } from '../../auth/authorization/authorizer.ts';
import type { RowFilter } from '../../storage/postgres/row-filter.ts';

/** The filter of the threads that the caller may read, and so of their runs. */
export const readAccess = async (
  authorizer: Authorizer,
  { thread_id, run_id }: { thread_id?: string | undefined; run_id?: string | undefined },
): Promise<RowFilter> => (await authorizer.authorize('threads:read', { thread_id, run_id })).access;
