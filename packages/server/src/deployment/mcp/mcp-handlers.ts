// The Model Context Protocol over Streamable HTTP: each POST is one message. The server keeps no sessions: a session id only names the
// requests of one client, so that it can cancel them.
import { randomUUID } from 'node:crypto';
import type { mcpRoutes } from '@svc/contract';
import * as z from 'zod';
import {
  type Call,
  DeferredResponse,
  type EventStreamResponse,
  type Handlers,
  Reply,
} from '../../api/handlers.ts';
import {
  accepts,
  readRpcMessage,
  readRpcParams,
  rpcCodes,
  RpcError,
  rpcError,
  RpcId,
  type RpcNotification,
  RpcProblem,
  type RpcRequest,
  rpcResult,
} from '../../api/json-rpc.ts';
import type { ToolCaller } from './tool-call.ts';
import type { ToolList } from './tool-list.ts';

/** Newest first. */
const versions = ['2025-11-25', '2025-06-18', '2025-03-26'];

interface McpParts {
  tools: ToolList;
  caller: ToolCaller;
  /** Version of the server. */
  version: string;
}

const ListParams = z.looseObject({ cursor: z.string().optional() });
const CallParams = z.looseObject({
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()).optional(),
  _meta: z.looseObject({ progressToken: RpcId.optional() }).optional(),
});
const InitializeParams = z.looseObject({ protocolVersion: z.string() });
const CancelledParams = z.looseObject({ requestId: RpcId });

/** Throws RpcProblem for headers that the protocol does not allow. Returns the session id. */
const readHeaders = (call: Call): string | undefined => {
  if (!accepts(call, 'application/json') || !accepts(call, 'text/event-stream'))
    throw new RpcProblem(
      rpcCodes.invalidRequest,
      'The header Accept must contain application/json and text/event-stream.',
    );
  const version = call.header('mcp-protocol-version');
  if (version !== undefined && !versions.includes(version))
    throw new RpcProblem(
      rpcCodes.invalidRequest,
      `This version of the protocol in mcp-protocol-version is not supported. Supported: ${versions.join(', ')}.`,
    );
  const session = call.header('mcp-session-id');
  if (session !== undefined && !/^[\x21-\x7e]{1,128}$/.test(session))
    throw new RpcProblem(
      rpcCodes.invalidRequest,
      'The header mcp-session-id must have 1 to 128 visible ASCII characters.',
    );
  return session;
};

const at = (id: RpcId, result: unknown): DeferredResponse =>
  new DeferredResponse(Promise.resolve(rpcResult(id, JSON.stringify(result))));

/** Calls `assistants:search`, which every message needs, and returns its filter. */
const visibleAssistants = async ({ authorizer }: Call) => {
  const requested = { graph_id: undefined, metadata: undefined, limit: 0, offset: 0 };
  return (await authorizer.authorize('assistants:search', requested)).access;
};

export const mcpHandlers = ({ tools, caller, version }: McpParts): Handlers<typeof mcpRoutes> => {
  const initialize = (message: RpcRequest) => {
    const { protocolVersion } = readRpcParams(InitializeParams, message);
    const result = {
      protocolVersion: versions.includes(protocolVersion) ? protocolVersion : versions[0],
      capabilities: { tools: {} },
      serverInfo: { name: 'svc', version },
    };
    return new Reply(at(message.id, result), { session: randomUUID() });
  };
  const callTool = async (message: RpcRequest, session: string | undefined, call: Call) => {
    const { name, arguments: given = {}, _meta } = readRpcParams(CallParams, message);
    const assistant = await tools.find(name, await visibleAssistants(call));
    const { input, context } = (await tools.arguments(assistant)).read(given);
    return caller.call(
      {
        id: message.id,
        assistant_id: assistant.assistant_id,
        input,
        context,
        session,
        progressToken: _meta?.progressToken,
      },
      call,
    );
  };
  const respond = async (
    message: RpcRequest,
    session: string | undefined,
    call: Call,
  ): Promise<DeferredResponse | EventStreamResponse | Reply<DeferredResponse>> => {
    if (message.method === 'tools/call') return callTool(message, session, call);
    if (message.method === 'tools/list') {
      const { cursor } = readRpcParams(ListParams, message);
      return at(message.id, await tools.page(call.authorizer, cursor));
    }
    await visibleAssistants(call);
    if (message.method === 'initialize') return initialize(message);
    if (message.method === 'ping') return at(message.id, {});
    throw new RpcError(rpcCodes.methodNotFound, `Method not found: ${message.method}`);
  };
  const receive = async ({ method, params }: RpcNotification, session: string | undefined, call: Call) => {
    if (method !== 'notifications/cancelled' || session === undefined) return;
    const cancelled = CancelledParams.safeParse(params);
    if (cancelled.success) await caller.cancel(session, cancelled.data.requestId, call);
  };
  return {
    callMcp: async ({ body }, call) => {
      const session = readHeaders(call);
      const message = readRpcMessage(body);
      if (message === undefined || !('id' in message)) {
        await visibleAssistants(call);
        if (message !== undefined) await receive(message, session, call);
        return new Reply(undefined, { isEmpty: true });
      }
      try {
        return await respond(message, session, call);
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
        await visibleAssistants(call);
        return new DeferredResponse(Promise.resolve(rpcError(message.id, error.rpcCode, error.message)));
      }
    },
  };
};
