// Errors of the A2A protocol.
import { rpcCodes, RpcError } from '../../api/json-rpc.ts';

const reasons = {
  TASK_NOT_FOUND: -32_001,
  PUSH_NOTIFICATION_NOT_SUPPORTED: -32_003,
  UNSUPPORTED_OPERATION: -32_004,
  CONTENT_TYPE_NOT_SUPPORTED: -32_005,
  VERSION_NOT_SUPPORTED: -32_009,
} as const;

export const a2aError = (reason: keyof typeof reasons, message: string): RpcError =>
  new RpcError(reasons[reason], message, [
    { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'a2a-protocol.org' },
  ]);

/** The error is the same for a task that does not exist and for a task that is not visible to the caller. */
export const taskNotFound = (id: string): RpcError =>
  a2aError('TASK_NOT_FOUND', `Task not found: ${id.slice(0, 100)}`);

/** `path`: where the value is in the params. */
export const invalidParam = (path: string, problem: string): RpcError =>
  new RpcError(rpcCodes.invalidParams, `params.${path}: ${problem}`);
