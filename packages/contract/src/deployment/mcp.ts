import * as z from 'zod';
import { Json } from '../json.ts';
import { routesOf } from '../route.ts';

const route = routesOf('MCP');

export const mcpRoutes = {
  callMcp: route('post', '/mcp', {
    aliases: ['/mcp/'],
    summary: 'The Model Context Protocol: each assistant that the caller may see is a tool',
    description:
      'Streamable HTTP. `tools/call` also calls handlers of custom authentication with `threads:create_run`, as `POST /runs/wait` does. A notification is answered with 202 and without a body.',
    access: { resource: 'assistants', action: 'search' },
    kind: 'rpc',
    body: Json.describe('A JSON-RPC 2.0 message'),
    anyText: ['params.arguments'],
    empty: 'The message is a notification or a response',
    response: z.looseObject({ jsonrpc: z.literal('2.0') }).describe('A JSON-RPC 2.0 response'),
    requestHeaders: {
      accept: 'Must contain application/json and text/event-stream.',
      'mcp-protocol-version': 'The version that the server has chosen in its answer to initialize.',
      'mcp-session-id':
        'The id that the server has sent with its answer to initialize; it is needed to cancel requests.',
    },
    headers: { 'mcp-session-id': 'Of an answer to initialize: a new session id.' },
    errors: ['conflict', 'unavailable'],
  }),
};
