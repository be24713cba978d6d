// A request of the A2A protocol: its method and headers. The method decides between A2A 0.3 and A2A 1.0.
import type { Call } from '../../api/handlers.ts';
import { accepts, rpcCodes, RpcError, RpcProblem, type RpcRequest } from '../../api/json-rpc.ts';
import { a2aError } from './a2a-error.ts';
import type { Dialect } from './agent-task.ts';
import type { HistoryView } from './params.ts';

type Method = 'send' | 'stream' | 'get' | 'cancel' | 'subscribe' | 'list' | 'card';

const methods: Record<string, [Dialect, Method]> = {
  'message/send': ['0.3', 'send'],
  'message/stream': ['0.3', 'stream'],
  'tasks/get': ['0.3', 'get'],
  'tasks/cancel': ['0.3', 'cancel'],
  'tasks/resubscribe': ['0.3', 'subscribe'],
  'agent/getAuthenticatedExtendedCard': ['0.3', 'card'],
  SendMessage: ['1.0', 'send'],
  SendStreamingMessage: ['1.0', 'stream'],
  GetTask: ['1.0', 'get'],
  CancelTask: ['1.0', 'cancel'],
  SubscribeToTask: ['1.0', 'subscribe'],
  ListTasks: ['1.0', 'list'],
  GetExtendedAgentCard: ['1.0', 'card'],
};

export interface A2aRequest {
  dialect: Dialect;
  method: Method;
  /** The scope of histories, if a header sets it. */
  scope: HistoryView['scope'] | undefined;
}

/** Throws RpcError, or RpcProblem for invalid headers. */
export const readA2aRequest = (request: RpcRequest, call: Call): A2aRequest => {
  assertVersion(call);
  const [dialect, method] = readMethod(request);
  const isStreamed = method === 'stream' || method === 'subscribe';
  assertAccepted(call, isStreamed ? 'text/event-stream' : 'application/json');
  return { dialect, method, scope: readScope(call) };
};

const readMethod = ({ method }: RpcRequest): [Dialect, Method] => {
  const known = Object.hasOwn(methods, method) ? methods[method] : undefined;
  if (known !== undefined) return known;
  const reason = /pushnotification/i.test(method)
    ? 'Push notifications are not supported'
    : 'Method not found';
  throw new RpcError(rpcCodes.methodNotFound, `${reason}: ${method}`);
};

const assertAccepted = (call: Call, type: string): void => {
  if (accepts(call, type)) return;
  throw new RpcProblem(rpcCodes.invalidRequest, `The header Accept must contain ${type} for this method.`);
};

const assertVersion = (call: Call): void => {
  const version = call.header('a2a-version')?.trim() ?? '';
  if (version === '' || /^(0\.3|1\.0)(\.\d{1,4})?$/.test(version)) return;
  throw a2aError('VERSION_NOT_SUPPORTED', 'A2A-Version must be 0.3 or 1.0.');
};

const readScope = (call: Call): HistoryView['scope'] | undefined => {
  const given = call.header('svc-a2a-history-scope') ?? call.header('langgraph-a2a-history-scope');
  if (given === undefined || given === 'task' || given === 'context') return given;
  throw new RpcError(rpcCodes.invalidParams, 'The header Svc-A2A-History-Scope must be task or context.');
};
