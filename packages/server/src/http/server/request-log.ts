import { probePaths } from './request-path.ts';
import type { HttpLogger } from './problem.ts';
import type { CreatedRun } from '../../api/call.ts';
import { Reply } from '../../api/handlers.ts';
import type { Caller } from '../../auth/principal/caller.ts';

export interface RequestEntry {
  route: string;
  requestId: string;
  startedMs: number;
  status: number;
  /** Path of the run that the request created. */
  location?: string | undefined;
  /** Of its span. */
  ids?: SpanIds | undefined;
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

/** Hexadecimal ids of W3C Trace Context. */
export interface SpanIds {
  readonly trace_id: string;
  readonly span_id: string;
}

/** The span of a request, as the HTTP side reports it. Another part of the server decides what is recorded. */
export interface RequestSpan {
  /** For the line of the request in the log. Undefined for a span that is not sent. */
  readonly ids: SpanIds | undefined;
  created(run: CreatedRun): void;
  /** Called once, when the response is complete. `route`: the pattern, or `*`. */
  end(answer: { route: string; status: number }): void;
}

/** `header`: returns a header of the request. */
export type StartRequestSpan = (
  method: string,
  header: (name: string) => string | undefined,
) => RequestSpan | undefined;

// The audit log: who changed what. One line for each request of a route that the contract marks as audited, also for one that was refused.

export type AuditLogger = Pick<HttpLogger, 'info'>;

export interface AuditedRequest {
  /** What was changed, and how, such as `key.create`. */
  action: string;
  caller: Caller;
  /** Validated ids of the path. Undefined when the request was refused before they were read. */
  params: unknown;
  /** What the handler returned. */
  reply: unknown;
  status: number;
  requestId: string;
}

export const logAudit = (logger: AuditLogger, request: AuditedRequest): void => {
  const { action, caller, params, reply, status, requestId } = request;
  const target = { ...(params as object | undefined), ...createdBy(reply) };
  logger.info({ action, by: actorOf(caller), target, status, request_id: requestId }, 'audit');
};

/** An API key of a workspace, a user, or neither: a caller without a credential, or with a key of the deployment API. */
const actorOf = ({ grant, user }: Caller): object => {
  if (grant !== undefined) return { key_id: grant.key_id, workspace_id: grant.workspace_id };
  return user === undefined ? {} : { user: user.identity };
};

const createdBy = (reply: unknown): { id?: string } => {
  const value = reply instanceof Reply ? (reply as Reply<unknown>).value : reply;
  const id = typeof value === 'object' && value !== null && 'id' in value ? value.id : undefined;
  return typeof id === 'string' ? { id } : {};
};
