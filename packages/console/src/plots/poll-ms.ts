// How often plots read their figures again.
import { ApiError } from '@svc/sdk';

const minMs = 15_000;
const maxMs = 300_000;

/**
 * A fourth of an interval: the points of a longer time change more slowly, and cost the server more. Never after an answer that is an error:
 * what is forbidden or takes too long stays so. A request that did not reach the server is repeated.
 */
export const plotPollMs = (intervalSeconds: number | undefined, error: Error | null): number | false =>
  error instanceof ApiError ? false : Math.min(maxMs, Math.max(minMs, (intervalSeconds ?? 0) * 250));
