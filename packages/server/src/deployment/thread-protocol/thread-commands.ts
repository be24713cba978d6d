// Executes the commands of thread protocol v2.
import {
  type CommandEnvelope,
  type CommandMethod,
  commandParams,
  type ThreadCommandResponse,
  threadProtocolRoutes,
  unsupportedCommands,
} from '@svc/contract';
import type { z } from 'zod';
import type { Call } from '../../api/handlers.ts';
import { readAccess } from '../threads/read-access.ts';
import { CommandError, parsed, toCommandError } from './command-error.ts';
import type { ReadCommands } from './read-commands.ts';
import type { CommandCall, RunCommands } from './run-commands.ts';

export interface ThreadCommands {
  runCommands: RunCommands;
  readCommands: ReadCommands;
}

const isSupported = (method: string): method is CommandMethod => Object.hasOwn(commandParams, method);

export const executeCommand = async (
  { runCommands, readCommands }: ThreadCommands,
  command: CommandCall,
): Promise<object> => {
  const { thread_id, method, call } = command;
  const access = () => readAccess(call.authorizer, { thread_id });
  const params = <T extends z.ZodType>(schema: T) => parsed(schema, command.params, 'params');
  if (!isSupported(method)) {
    await access();
    if (unsupportedCommands.has(method))
      throw new CommandError('not_supported', `${method} is not supported here`);
    throw new CommandError('unknown_command', `Unknown command ${JSON.stringify(method)}`);
  }
  switch (method) {
    case 'run.start':
      return runCommands.start(command, params(commandParams[method]));
    case 'input.respond':
      return runCommands.respond(command, params(commandParams[method]));
    case 'input.inject':
      return runCommands.inject(command, params(commandParams[method]));
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

/** What the response says. A caller with invalid parameters is authorized too before the response. */
const refusal = async (error: unknown, thread_id: string, { authorizer }: Call): Promise<CommandError> => {
  const refused = toCommandError(error);
  if (!refused) throw error;
  if (authorizer.hasAuthorized(threadProtocolRoutes.sendThreadCommand.access)) return refused;
  try {
    await readAccess(authorizer, { thread_id });
    return refused;
  } catch (denied) {
    const reason = toCommandError(denied);
    if (!reason) throw denied;
    return reason;
  }
};

export const commandCall = (
  thread_id: string,
  { id, method, params = {} }: CommandEnvelope,
  caller: Pick<CommandCall, 'call' | 'key'>,
): CommandCall => ({ thread_id, id, method, params, ...caller });

/**
 * The number of the newest event that the command has seen. It is not known: any process may execute the run. With 0 a client finds the first
 * event of its run by the id of the event, and takes older events for a replay; without a number it takes all events for new ones.
 */
const appliedThroughSeq = 0;

/** Executes a command, and makes its response. Errors that are not about the command are thrown. */
export const answerCommand = async (
  command: CommandCall,
  execute: (command: CommandCall) => Promise<object>,
): Promise<ThreadCommandResponse> => {
  const { id, thread_id, call } = command;
  const meta = { thread_id, applied_through_seq: appliedThroughSeq };
  try {
    const result = await execute(command);
    return { type: 'success', id, result: result as Record<string, unknown>, meta };
  } catch (error) {
    const refused = await refusal(error, thread_id, call);
    return { type: 'error', id, error: refused.code, message: refused.message, meta };
  }
};
