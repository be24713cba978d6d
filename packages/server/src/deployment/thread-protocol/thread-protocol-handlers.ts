// Routes of thread protocol v2: commands, and the feed of events.
import {
  type CommandEnvelope,
  type CommandMethod,
  commandParams,
  type ThreadCommandResponse,
  threadProtocolRoutes,
  unsupportedCommands,
} from '@svc/contract';
import { Problem } from '@svc/contract/problem';
import type { z } from 'zod';
import { type Call, EventStreamResponse, type Handlers } from '../../api/handlers.ts';
import type { Authorizer } from '../../auth/authorization/authorizer.ts';
import { readableThreads } from '../threads/readable-threads.ts';
import { CommandError, parsed, toCommandError } from './command-error.ts';
import type { ReadCommands } from './read-commands.ts';
import type { CommandCall, RunCommands } from './run-commands.ts';
import type { ThreadEventFeed } from './thread-event-feed.ts';

export interface ThreadProtocolParts {
  runCommands: RunCommands;
  readCommands: ReadCommands;
  feed: ThreadEventFeed;
}

const isSupported = (method: string): method is CommandMethod => Object.hasOwn(commandParams, method);

const execute = async (
  { runCommands, readCommands }: ThreadProtocolParts,
  command: CommandCall,
): Promise<object> => {
  const { thread_id, method, call } = command;
  const access = () => readableThreads(call.authorizer, { thread_id });
  const params = <T extends z.ZodType>(schema: T) => parsed(schema, command.params, 'params');
  if (!isSupported(method)) {
    await access();
    if (unsupportedCommands.has(method))
      throw new CommandError('not_supported', `${method} is not supported over HTTP`);
    throw new CommandError('unknown_command', `Unknown command ${JSON.stringify(method)}`);
  }
  switch (method) {
    case 'run.start':
      return runCommands.start(command, params(commandParams[method]));
    case 'input.respond':
      return runCommands.respond(command, params(commandParams[method]));
    case 'state.fork':
      return runCommands.fork(command, params(commandParams[method]));
    case 'agent.getTree':
      return readCommands.tree(thread_id, params(commandParams[method]), await access());
    case 'state.get':
      return readCommands.state(thread_id, params(commandParams[method]), await access());
    case 'state.listCheckpoints':
      return readCommands.checkpoints(thread_id, params(commandParams[method]), await access());
  }
};

const mayCreate = async (authorizer: Authorizer, thread_id: string): Promise<boolean> => {
  try {
    await authorizer.authorize('threads:create', { thread_id, metadata: {}, if_exists: undefined });
    return true;
  } catch (error) {
    if (error instanceof Problem && error.code === 'forbidden') return false;
    throw error;
  }
};

/** What the response says. Also a caller whose parameters are invalid is authorized before a response. */
const refusal = async (error: unknown, thread_id: string, { authorizer }: Call): Promise<CommandError> => {
  const refused = toCommandError(error);
  if (!refused) throw error;
  if (authorizer.hasAuthorized(threadProtocolRoutes.sendThreadCommand.access)) return refused;
  try {
    await readableThreads(authorizer, { thread_id });
    return refused;
  } catch (denied) {
    const reason = toCommandError(denied);
    if (!reason) throw denied;
    return reason;
  }
};

const respond = async (
  parts: ThreadProtocolParts,
  thread_id: string,
  { id, method, params = {} }: CommandEnvelope,
  call: Call,
): Promise<ThreadCommandResponse> => {
  const meta = { thread_id };
  try {
    const result = await execute(parts, { thread_id, id, method, params, call });
    return { type: 'success', id, result: result as Record<string, unknown>, meta };
  } catch (error) {
    const refused = await refusal(error, thread_id, call);
    return { type: 'error', id, error: refused.code, message: refused.message, meta };
  }
};

export const threadProtocolHandlers = (
  parts: ThreadProtocolParts,
): Handlers<typeof threadProtocolRoutes> => ({
  sendThreadCommand: ({ params, body }, call) => respond(parts, params.thread_id, body, call),
  streamThreadEvents: async ({ params, body }, { authorizer }) => {
    const { thread_id } = params;
    const { since, ...selection } = body;
    const access = await readableThreads(authorizer, params);
    const subscription = await parts.feed.open({
      thread_id,
      access,
      selection,
      since,
      mayCreate: () => mayCreate(authorizer, thread_id),
    });
    return new EventStreamResponse((sink) => subscription.start(sink));
  },
});
