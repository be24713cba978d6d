// Thread protocol v2: commands and one feed of events for a thread.
import * as z from 'zod';
import { AssistantRef, Id, Json, JsonObject, Metadata, nullish } from '../json.ts';
import { routesOf } from '../route.ts';
import { Config } from './assistants.ts';
import { Command } from './command.ts';
import { Tracer } from './run-create.ts';

const Segment = z.string().min(1).max(256);
const ProtocolNamespace = z
  .array(Segment)
  .max(32)
  .describe('The path of a graph or of a task in the tree of graphs; empty for the root graph');
const InterruptId = z.string().min(1).max(256);
const Sequence = z.int().min(0);

/** Channels by name, and `custom:<name>`. */
const Channel = z
  .string()
  .max(256)
  .regex(
    /^(values|updates|messages|tools|lifecycle|input|checkpoints|tasks|custom|custom:.+)$/s,
    'must be values, updates, messages, tools, lifecycle, input, checkpoints, tasks, custom or custom:<name>',
  );

export const EventSelection = z
  .object({
    channels: z.array(Channel).min(1).max(100),
    namespaces: nullish(z.array(ProtocolNamespace).max(1_000)).describe(
      'Only events of these namespaces and of those below them. A segment without a task id matches every task of the node',
    ),
    depth: nullish(z.int().min(0).max(1_000)).describe(
      'How many levels below the given namespaces (by default the root) events may be',
    ),
    since: nullish(Sequence).describe(
      'Only events with a higher `seq`. By default all retained events of the thread are sent first',
    ),
  })
  .meta({ id: 'EventSelection' });
export type EventSelection = z.output<typeof EventSelection>;

const MultitaskStrategy = nullish(z.enum(['reject', 'rollback', 'interrupt', 'enqueue']));
const options = { config: nullish(Config), metadata: nullish(Metadata) };
const ignored = z.unknown().optional().describe('Ignored');

const InterruptResponse = z.strictObject({
  namespace: nullish(ProtocolNamespace),
  interrupt_id: InterruptId,
  response: Json.optional(),
});

const RespondOptions = {
  ...options,
  update: Command.shape.update,
  goto: Command.shape.goto,
  strict_resume: ignored,
};

/** The parameters of each command that the server executes. */
export const commandParams = {
  'run.start': z.strictObject({
    assistant_id: AssistantRef,
    input: Json.optional(),
    ...options,
    multitask_strategy: MultitaskStrategy,
    multitaskStrategy: MultitaskStrategy,
    langsmith_tracer: nullish(Tracer),
  }),
  'input.respond': z.union([
    z.strictObject({
      responses: z.array(InterruptResponse).min(1).max(100),
      ...RespondOptions,
    }),
    z.strictObject({ ...InterruptResponse.shape, ...RespondOptions }),
  ]),
  'input.inject': z.strictObject({
    namespace: nullish(ProtocolNamespace),
    message: z.looseObject({
      role: z.enum(['user', 'system']),
      content: z.string().max(1_000_000),
      name: nullish(z.string().max(256)),
    }),
  }),
  'agent.getTree': z.strictObject({ run_id: nullish(Id) }),
  'state.get': z.strictObject({
    namespace: nullish(ProtocolNamespace),
    keys: nullish(z.array(z.string().min(1).max(256)).max(100)),
  }),
  'state.listCheckpoints': z.strictObject({
    namespace: nullish(ProtocolNamespace),
    limit: nullish(z.int().min(1).max(100)),
    before: nullish(Id),
  }),
  'state.fork': z.strictObject({ checkpoint_id: Id, input: Json.optional(), config: nullish(Config) }),
};
export type CommandMethod = keyof typeof commandParams;

/** Commands of the protocol that the server does not execute, or only over a WebSocket. */
export const unsupportedCommands: ReadonlySet<string> = new Set([
  'subscription.subscribe',
  'subscription.unsubscribe',
  'subscription.reconnect',
]);

/** Values for the graph in a command, which may have any string. */
export const commandAnyText = [
  'params.input',
  'params.message',
  'params.response',
  'params.responses.*.response',
  'params.update',
] as const;

export const CommandEnvelope = z
  .object({
    id: z.int().min(0).describe('Chosen by the client, and returned with the response'),
    method: z
      .string()
      .min(1)
      .max(256)
      .describe(`A command: ${Object.keys(commandParams).join(', ')}`),
    params: nullish(JsonObject).describe('The parameters of the command'),
  })
  .meta({ id: 'ThreadCommand' });
export type CommandEnvelope = z.output<typeof CommandEnvelope>;

const errorCodes = [
  'invalid_argument',
  'unknown_command',
  'unknown_error',
  'no_such_run',
  'no_such_subscription',
  'no_such_namespace',
  'no_such_interrupt',
  'no_such_checkpoint',
  'permission_denied',
  'not_supported',
] as const;
export type CommandErrorCode = (typeof errorCodes)[number];

// With an id, because generators of clients make one model of both uses.
const meta = z
  .object({
    thread_id: Id,
    applied_through_seq: z
      .int()
      .optional()
      .describe('Always 0. Clients find the first event of their run by its `event_id`'),
  })
  .meta({ id: 'ThreadCommandMeta' })
  .optional();

export const ThreadCommandResponse = z
  .union([
    z.object({ type: z.literal('success'), id: z.int(), result: JsonObject, meta }),
    z.object({ type: z.literal('error'), id: z.int(), error: z.enum(errorCodes), message: z.string(), meta }),
  ])
  .meta({ id: 'ThreadCommandResponse' });
export type ThreadCommandResponse = z.output<typeof ThreadCommandResponse>;

const params = z.object({ thread_id: Id });
const route = routesOf('Thread protocol');

export const threadProtocolRoutes = {
  sendThreadCommand: route('post', '/threads/:thread_id/commands', {
    summary: 'Execute a command of thread protocol v2',
    description:
      'The response of an executed command has status 200, with `type` success or error. The page Thread protocol of the documentation describes the commands.',
    access: { resource: 'threads', action: ['create_run', 'read'] },
    params,
    body: CommandEnvelope,
    anyText: commandAnyText,
    malformed: 'bad_request',
    response: ThreadCommandResponse,
    requestHeaders: {
      'Idempotency-Key':
        'A name that you choose for the run that the command starts: a second command with the same name returns the same run',
    },
  }),
  streamThreadEvents: route('post', '/threads/:thread_id/stream/events', {
    summary: 'Events of thread protocol v2; the stream does not end by itself',
    description:
      'The retained events of the thread, then new ones. Each has an `event_id` that is the same for every reader, and a growing `seq`.',
    access: { resource: 'threads', action: 'read' },
    kind: 'sse',
    params,
    body: EventSelection,
    response: z.string(),
    errors: ['not_found'],
  }),
  openThreadSocket: route('get', '/threads/:thread_id/stream/events', {
    summary: 'Commands and events of thread protocol v2 over a WebSocket',
    description:
      'Messages are commands as JSON texts, `subscription.subscribe` and `subscription.unsubscribe` among them; the server sends their responses and the events of the subscriptions.',
    access: { resource: 'threads', action: 'read' },
    kind: 'socket',
    params,
    query: z.object({
      ticket: z.string().max(256).optional().describe('A ticket, for clients that can send no headers'),
    }),
    response: z.void(),
    errors: ['not_found', 'forbidden'],
  }),
};

/** The parameters of the commands that only a WebSocket has. */
export const subscriptionParams = {
  'subscription.subscribe': threadProtocolRoutes.streamThreadEvents.body,
  'subscription.unsubscribe': z.strictObject({ subscription_id: z.string().min(1).max(256) }),
};
export type SubscriptionMethod = keyof typeof subscriptionParams;

// Tickets: credentials for one WebSocket, for clients that can send no headers.

export const Ticket = z
  .object({
    ticket: z.string().describe('The parameter `ticket` of the WebSocket'),
    expires_at: z.string().describe('ISO 8601 in UTC'),
  })
  .meta({ id: 'Ticket' });
export type Ticket = z.output<typeof Ticket>;

export const ticketRoutes = {
  createTicket: route('post', '/auth/tickets', {
    summary: 'Create a ticket, with which a client that can send no headers opens one WebSocket',
    description: 'The ticket stands for the caller, is valid for 60 s, and is accepted once.',
    access: 'caller',
    response: Ticket,
  }),
};
