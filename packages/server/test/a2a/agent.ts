// Messages of the A2A protocol, sent without its client.
import type { TestServer } from '../server.ts';

export interface RpcAnswer {
  status: number;
  body: {
    id?: unknown;
    result?: Record<string, unknown> & Partial<WireTask>;
    error?: { code: number; message: string; data?: unknown };
  };
}

/** A task of A2A 0.3. */
export interface WireTask {
  id: string;
  contextId: string;
  status: { state: string; message?: { parts: { text?: string; data?: unknown }[] } };
  artifacts: { artifactId: string; parts: { kind: string; text?: string; data?: unknown }[] }[];
  history: { messageId: string; role: string; parts: { text?: string }[]; taskId?: string }[];
}

export const rpcTo =
  (server: TestServer, agent: string, user?: string) =>
  async (method: string, params?: unknown, headers: Record<string, string> = {}): Promise<RpcAnswer> => {
    const body = { jsonrpc: '2.0', id: 1, method, params };
    const authorization = user === undefined ? {} : { authorization: `Bearer ${user}` };
    return (await server.call('POST', `/a2a/${agent}`, body, {
      accept: method.toLowerCase().includes('stream') ? 'text/event-stream' : 'application/json',
      ...authorization,
      ...headers,
    })) as RpcAnswer;
  };

/** A message of A2A 0.3 with one text. */
export const textMessage = (text: string, fields: object = {}) => ({
  role: 'user',
  messageId: crypto.randomUUID(),
  parts: [{ kind: 'text', text }],
  ...fields,
});

export const dataMessage = (data: object, fields: object = {}) => ({
  role: 'user',
  messageId: crypto.randomUUID(),
  parts: [{ kind: 'data', data }],
  ...fields,
});
