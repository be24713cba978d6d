import { probePaths } from './request-path.ts';
import type { HttpLogger } from './problem.ts';

export interface RequestEntry {
  route: string;
  requestId: string;
  startedMs: number;
  status: number;
  /** Path of the run that the request created. */
  location?: string | undefined;
  /** Of its span. */
  ids?: { trace_id: string; span_id: string } | undefined;
  /** The request headers that the log contains. */
  headers?: Record<string, string> | undefined;
}

/**
 * Logs one line for each request, with the pattern of the route and never the URL: paths and queries contain input of users. A run that
 * the request created is identified by its ids, which the server chose. Requests of probes and scrapers are logged at debug.
 */
export const logRequest = (logger: HttpLogger, method: string, request: RequestEntry): void => {
  const ms = Math.round((performance.now() - request.startedMs) * 100) / 100;
  const { route, requestId, status, location, ids, headers } = request;
  const [, thread_id, run_id] = /^\/threads\/([^/]+)\/runs\/([^/]+)$/.exec(location ?? '') ?? [];
  const created = run_id === undefined ? {} : { thread_id, run_id };
  const level = probePaths.has(route) && status < 400 ? 'debug' : 'info';
  logger[level](
    { method, route, status, ms, request_id: requestId, ...created, ...ids, ...(headers && { headers }) },
    'request',
  );
};
