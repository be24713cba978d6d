import type { HttpLogger } from './problem.ts';

export interface RequestEntry {
  route: string;
  requestId: string;
  startedMs: number;
  status: number;
  /** Path of the run that the request made. */
  location?: string | null;
}

/** Probes and scrapes come every few seconds; their requests are logged at debug. */
const probes = new Set(['/ok', '/ready', '/metrics']);

/**
 * One line per request. The pattern of the route, never the URL: paths and queries hold what users typed. A run that
 * it made is named by its ids, which are ours.
 */
export const logRequest = (logger: HttpLogger, method: string, request: RequestEntry): void => {
  const ms = Math.round((performance.now() - request.startedMs) * 100) / 100;
  const { route, requestId, status, location } = request;
  const [, thread_id, run_id] = /^\/threads\/([^/]+)\/runs\/([^/]+)$/.exec(location ?? '') ?? [];
  const made = run_id === undefined ? {} : { thread_id, run_id };
  const level = probes.has(route) && status < 400 ? 'debug' : 'info';
  logger[level]({ method, route, status, ms, request_id: requestId, ...made }, 'request');
};
