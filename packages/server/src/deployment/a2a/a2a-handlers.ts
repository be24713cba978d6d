// The Agent2Agent protocol: JSON-RPC for each assistant, and agent cards.
import type { a2aRoutes } from '@svc/contract';
import type { Logger } from 'pino';
import { type Call, DeferredResponse, type EventStreamResponse, type Handlers } from '../../api/handlers.ts';
import {
  readRpcMessage,
  readRpcParams,
  rpcCodes,
  rpcError,
  RpcError,
  rpcFailure,
  type RpcId,
  RpcProblem,
  type RpcRequest,
  rpcResult,
} from '../../api/json-rpc.ts';
import { type A2aRequest, readA2aRequest } from './a2a-request.ts';
import { a2aError } from './a2a-error.ts';
import type { AgentTask, Dialect } from './agent-task.ts';
import type { Agent, AgentFinder } from './agent-finder.ts';
import { historyView, ListParams, SendParams, TaskParams } from './params.ts';
import type { TaskService } from './task-service.ts';
import { sendResultOf, taskOf } from './wire.ts';
import { isRecord } from '../../json/is-record.ts';
import type { AssistantRow } from '../../storage/deployment/assistants/assistant-rows.ts';

interface A2aParts {
  agents: AgentFinder;
  tasks: TaskService;
  logger: Logger;
}

type Response = DeferredResponse | EventStreamResponse;

export const a2aHandlers = ({ agents, tasks, logger }: A2aParts): Handlers<typeof a2aRoutes> => {
  const card = async (id: string | undefined, call: Call) => cardOf(await agents.find(id, call), call);

  const respond = async (request: RpcRequest, agent: Agent, call: Call): Promise<Response> => {
    const requested = readA2aRequest(request, call);
    const { method, dialect, scope } = requested;
    const { id } = request;
    if (method === 'send' || method === 'stream') return send(request, requested, agent, call);
    if (method === 'card') return resultOf(id, cardOf(agent, call));
    const { assistant_id } = agent.assistant;
    if (method === 'list') {
      const params = readRpcParams(ListParams, request);
      return resultOf(id, await tasks.list(params, { assistant_id, call, scope }));
    }
    const params = readRpcParams(TaskParams, request);
    const of = { assistant_id, call, history: historyView(params, scope) };
    if (method === 'subscribe') return tasks.subscribe(params.id, { ...of, id, dialect });
    return resultOf(id, taskOf(await tasks[method](params.id, of), dialect));
  };

  const send = async (
    request: RpcRequest,
    { dialect, method, scope }: A2aRequest,
    agent: Agent,
    call: Call,
  ): Promise<Response> => {
    const { message, configuration } = readRpcParams(SendParams[dialect], request);
    const options = configuration ?? {};
    if (options.pushNotificationConfig || options.taskPushNotificationConfig)
      throw a2aError('PUSH_NOTIFICATION_NOT_SUPPORTED', 'Push notifications are not supported.');
    assertModes(options.acceptedOutputModes ?? [], agent);
    const history = historyView(options, scope);
    const { id } = request;
    if (method === 'stream') return tasks.stream(message, agent, { id, dialect, history, call });
    const isBlocking = dialect === '0.3' ? (options.blocking ?? true) : options.returnImmediately !== true;
    const { task } = await tasks.send(message, agent, { history, call, isBlocking });
    return deferred(task, { id, dialect, logger });
  };

  return {
    getAgentCard: ({ query }, call) => card(query.assistant_id, call),
    getAgentCardOf: ({ params }, call) => card(params.assistant_id, call),
    callAgent: async ({ params, body }, call) => {
      const message = readRpcMessage(body);
      if (message === undefined || !('id' in message))
        throw new RpcProblem(rpcCodes.invalidRequest, 'The message must be a request with an id.');
      const agent = await agents.find(params.assistant_id, call);
      try {
        return await respond(message, agent, call);
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
        return new DeferredResponse(
          Promise.resolve(rpcError(message.id, error.rpcCode, error.message, error.data)),
        );
      }
    },
  };
};

const cardOf = ({ assistant, takesMessages }: Agent, { address }: Call) =>
  agentCard(assistant, takesMessages, address);

const resultOf = (id: RpcId, result: object): DeferredResponse =>
  new DeferredResponse(Promise.resolve(rpcResult(id, JSON.stringify(result))));

/** Throws RpcError when the client accepts none of the types of the agent's output. */
const assertModes = (accepted: string[], { assistant, takesMessages }: Agent): void => {
  const { output } = modesOf(assistant, takesMessages);
  // Early versions of the protocol named kinds of parts.
  const types = accepted.map((mode) => ({ text: 'text/plain', data: 'application/json' })[mode] ?? mode);
  if (types.length === 0 || types.includes('*/*') || types.some((type) => output.includes(type))) return;
  throw a2aError(
    'CONTENT_TYPE_NOT_SUPPORTED',
    `params.configuration.acceptedOutputModes: the agent sends ${output.join(' and ')}`,
  );
};

/** The response when the task waits or has ended. Its headers may be sent before, so errors are in its body. */
const deferred = (
  task: Promise<AgentTask>,
  { id, dialect, logger }: { id: RpcId; dialect: Dialect; logger: Logger },
): DeferredResponse =>
  new DeferredResponse(
    task.then(
      (sent) => rpcResult(id, JSON.stringify(sendResultOf(sent, dialect))),
      (error: unknown) =>
        rpcFailure(id, error, (err) => logger.error({ err }, 'failed to read the task of a message')),
    ),
  );

// Agent cards describe an assistant to clients of the A2A protocol. A2A 0.3 and A2A 1.0 have different names for the members; a card has both.

const versions = ['1.0', '0.3'];
const namesMax = 100;

const namesIn = (value: unknown): string[] | undefined =>
  Array.isArray(value) && value.length > 0 && value.every((name) => typeof name === 'string')
    ? value.slice(0, namesMax)
    : undefined;

/** Media types of parts. `metadata.a2a` of the assistant may name others. */
export const modesOf = ({ metadata }: AssistantRow, takesMessages: boolean) => {
  const options = isRecord(metadata['a2a']) ? metadata['a2a'] : {};
  const usual = takesMessages ? ['text/plain', 'application/json'] : ['application/json'];
  return {
    input: namesIn(options['input_modes']) ?? usual,
    output: namesIn(options['output_modes']) ?? usual,
  };
};

export const agentCard = (assistant: AssistantRow, takesMessages: boolean, address: string) => {
  const { assistant_id, graph_id, name, version } = assistant;
  const description = assistant.description ?? `Runs the agent ${name} (graph ${graph_id}).`;
  const url = `${address}/a2a/${assistant_id}`;
  const { input: inputModes, output: outputModes } = modesOf(assistant, takesMessages);
  const supportedInterfaces = versions.map((protocolVersion) => ({
    url,
    protocolBinding: 'JSONRPC',
    protocolVersion,
  }));
  return {
    name,
    description,
    version: String(version),
    supportedInterfaces,
    protocolVersion: '0.3.0',
    url,
    preferredTransport: 'JSONRPC',
    capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: true },
    supportsAuthenticatedExtendedCard: true,
    defaultInputModes: inputModes,
    defaultOutputModes: outputModes,
    skills: [{ id: graph_id, name, description, tags: ['langgraph'], inputModes, outputModes }],
  };
};
