// The audit log: who changed what. One line for each request of a route that the contract marks as audited, also for one that was refused.
import { Reply } from '../../api/handlers.ts';
import type { Caller } from '../../auth/principal/caller.ts';
import type { HttpLogger } from './problem.ts';

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
