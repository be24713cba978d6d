// The Agent2Agent protocol: assistants as agents.
import * as z from 'zod';
import { AssistantRef, Json, nullish } from '../json.ts';
import { routesOf } from '../route.ts';

const access = { resource: 'assistants', action: 'read' } as const;
const route = routesOf('A2A');
const params = z.object({ assistant_id: AssistantRef });

const AgentCard = z
  .looseObject({ name: z.string(), description: z.string(), url: z.string() })
  .meta({ id: 'AgentCard', description: 'An agent card, with the members of A2A 0.3 and of A2A 1.0' });

export const a2aRoutes = {
  callAgent: route('post', '/a2a/:assistant_id', {
    summary:
      'The Agent2Agent protocol: an assistant is an agent, its runs are tasks, and threads are contexts',
    description:
      'The methods of A2A 0.3 and of A2A 1.0. They also call handlers of custom authentication, as the routes of runs do: `threads:create_run` to send messages, `threads:read` to read tasks, `threads:update` to cancel them.',
    access,
    kind: 'rpc',
    params,
    body: Json.describe('A JSON-RPC 2.0 request'),
    anyText: ['params.message.parts'],
    response: z.looseObject({ jsonrpc: z.literal('2.0') }).describe('A JSON-RPC 2.0 response'),
    requestHeaders: {
      accept: 'Must contain text/event-stream for methods that stream, and application/json for the others.',
      'a2a-version': 'The version of the protocol: 0.3 or 1.0.',
      'Svc-A2A-History-Scope':
        'The messages in the history of tasks: `task`, those of the task, or `context`, those of the whole thread.',
    },
    errors: ['not_found', 'conflict', 'unavailable'],
  }),
  getAgentCard: route('get', '/.well-known/agent-card.json', {
    summary: 'The agent card of an assistant',
    access,
    query: z.object({
      assistant_id: nullish(AssistantRef).describe('Not needed when the server has one graph'),
    }),
    response: AgentCard,
    errors: ['not_found'],
  }),
  getAgentCardOf: route('get', '/a2a/:assistant_id/.well-known/agent-card.json', {
    summary: 'The agent card of an assistant',
    access,
    params,
    response: AgentCard,
    errors: ['not_found'],
  }),
};
