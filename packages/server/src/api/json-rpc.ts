// JSON-RPC 2.0 messages, as a server reads and answers them.
import { Problem } from '@svc/contract/problem';
import * as z from 'zod';
import type { Call } from './handlers.ts';

export const rpcCodes = {
  parseError: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internalError: -32_603,
} as const;

/** A message that cannot be answered by its id: the request fails with 400. */
export class RpcProblem extends Problem {
  readonly rpcCode: number;

  constructor(rpcCode: number, message: string) {
    super('bad_request', message);
    this.rpcCode = rpcCode;
  }
}

/** An error that is the response to a request with an id. */
export class RpcError extends Error {
  readonly rpcCode: number;
  readonly data: unknown;

  constructor(rpcCode: number, message: string, data?: unknown) {
    super(message);
    this.rpcCode = rpcCode;
    this.data = data;
  }
}

/**
 * The response for an error that is known only when the headers may have been sent. Errors that are not meant for the caller are
 * passed to `report`.
 */
export const rpcFailure = (id: RpcId, error: unknown, report: (error: unknown) => void): string => {
  if (error instanceof RpcError) return rpcError(id, error.rpcCode, error.message, error.data);
  if (error instanceof Problem) return rpcError(id, rpcCodes.internalError, error.message);
  report(error);
  return rpcError(id, rpcCodes.internalError, 'Internal error; see the log of the server.');
};

/** Whether the header Accept allows a content type. */
export const accepts = (call: Call, type: string): boolean => {
  const accept = (call.header('accept') ?? '*/*').toLowerCase();
  const [family = ''] = type.split('/');
  return [type, `${family}/*`, '*/*'].some((range) => accept.includes(range));
};

/** The parameters of a request. Throws RpcError. */
export const readRpcParams = <T extends z.ZodType>(
  schema: T,
  { params }: Pick<RpcRequest, 'params'>,
): z.output<T> => {
  const read = schema.safeParse(params ?? {});
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new RpcError(
    rpcCodes.invalidParams,
    `${['params', ...(issue?.path ?? [])].join('.')}: ${issue?.message ?? 'invalid'}`,
  );
};

export const RpcId = z.union([z.string().max(256), z.int()]);
export type RpcId = z.output<typeof RpcId>;

const RpcRequest = z.strictObject({
  jsonrpc: z.literal('2.0'),
  id: RpcId,
  method: z.string().max(256),
  params: z.looseObject({}).optional(),
});
const RpcNotification = RpcRequest.omit({ id: true });
/** The server sends no requests, so responses are read and ignored. */
const RpcResponse = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: RpcId.nullable(),
  method: z.undefined().optional(),
});

export type RpcRequest = z.output<typeof RpcRequest>;
export type RpcNotification = z.output<typeof RpcNotification>;

/** A request, a notification (without id), or undefined for a response. Throws RpcProblem. */
export const readRpcMessage = (body: unknown): RpcRequest | RpcNotification | undefined => {
  if (Array.isArray(body))
    throw new RpcProblem(
      rpcCodes.invalidRequest,
      'Batches are not supported. Send each message in a request of its own.',
    );
  const request = z.union([RpcRequest, RpcNotification]).safeParse(body);
  if (request.success) return request.data;
  if (RpcResponse.safeParse(body).success && ('result' in (body as object) || 'error' in (body as object)))
    return undefined;
  throw new RpcProblem(
    rpcCodes.invalidRequest,
    'The body is not a JSON-RPC 2.0 message: an object with jsonrpc "2.0", method, and optional id (a string or an integer) and params (an object).',
  );
};

/** `result`: JSON text. */
export const rpcResult = (id: RpcId, result: string): string =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;

export const rpcError = (id: RpcId | null, code: number, message: string, data?: unknown): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } });
