// JSON-RPC 2.0 over HTTP.
import { CheckFailed, checkEqual, checkStatus, get } from '../check.ts';
import type { Answer, ServerClient } from '../server-client.ts';

const accept = 'application/json, text/event-stream';

export const rpcSend = (
  server: ServerClient,
  path: string,
  message: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> => server.send('POST', path, message, { headers: { accept, ...headers } });

export const rpcRequest = (method: string, params: object = {}) => ({
  jsonrpc: '2.0',
  id: 7,
  method,
  params,
});

/** The result of a request; fails when the response is an error. */
export const rpcResult = async (
  server: ServerClient,
  path: string,
  method: string,
  params?: object,
): Promise<unknown> => {
  const answer = await rpcSend(server, path, rpcRequest(method, params));
  checkStatus(answer, 200);
  checkEqual('the id of the response', get(answer.body, 'id'), 7);
  const result = get(answer.body, 'result');
  if (result === undefined)
    throw new CheckFailed(`${method}: expected a result, got ${answer.text.slice(0, 300)}`);
  return result;
};

/** The code of the error of a request; undefined when it succeeded. */
export const rpcErrorCode = async (
  server: ServerClient,
  path: string,
  method: string,
  params?: object,
): Promise<unknown> => get((await rpcSend(server, path, rpcRequest(method, params))).body, 'error', 'code');
