import type { HttpContext } from './call.ts';
import type { HttpLogger } from './problem.ts';

/** One line per request. The pattern of the route, never the URL: paths and queries hold what users typed. */
export const logRequest = (
  logger: HttpLogger,
  context: HttpContext,
  request: { route: string; requestId: string; startedMs: number; status: number },
): void => {
  const ms = Math.round((performance.now() - request.startedMs) * 100) / 100;
  const { route, requestId, status } = request;
  logger.info({ method: context.req.method, route, status, ms, request_id: requestId }, 'request');
};
