import { ApiError } from '@svc/sdk';
import { faultsOf } from '../ui/faults.ts';

/** The parameters of a request that contain the filter: charts request whole traces by the second one. */
const names = ['filter', 'trace_filter'];

/** The error if the server has rejected the filter: it belongs to the field. Any other error belongs to the page. */
export const rejectedFilter = (error: Error | null): ApiError | undefined =>
  error instanceof ApiError && error.status === 422 && faultsOf(error, names).at.size > 0 ? error : undefined;
