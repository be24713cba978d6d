// The Agent2Agent protocol in both of its versions: assistants as agents.
import { check, checkEqual, checkStatus, get, getList, getText } from '../check.ts';
import type { AreaScenarios, Scenarios } from '../scenario.ts';
import type { ServerClient } from '../server-client.ts';
import { question, unknownId } from './agents.ts';
import { rpcErrorCode, rpcRequest, rpcResult, rpcSend } from './json-rpc.ts';

/** How a version of the protocol spells its methods and messages. */
interface Version {
  name: string;
  send: string;
  stream: string;
  get: string;
  state: (plain: string) => string;
  message: (part: { text: string } | { data: object }, fields?: object) => object;
  /** The task in the result of a message. */
  task: (result: unknown) => unknown;
  /** The state in an event of a stream; undefined for other events. */
  streamedState: (result: unknown) => unknown;
}

const versions: Version[] = [
  {
    name: '0.3',
    send: 'message/send',
    stream: 'message/stream',
    get: 'tasks/get',
    state: (plain) => plain,
    message: (part, fields) => ({
      kind: 'message',
      role: 'user',
      messageId: unknownId(),
      parts: [{ kind: 'text' in part ? 'text' : 'data', ...part }],
      ...fields,
    }),
    task: (result) => result,
    streamedState: (result) =>
      get(result, 'kind') === 'status-update' ? get(result, 'status', 'state') : undefined,
  },
  {
    name: '1.0',
    send: 'SendMessage',
    stream: 'SendStreamingMessage',
    get: 'GetTask',
    state: (plain) => `TASK_STATE_${plain.toUpperCase().replace('-', '_')}`,
    message: (part, fields) => ({ role: 'ROLE_USER', messageId: unknownId(), parts: [part], ...fields }),
    task: (result) => get(result, 'task'),
    streamedState: (result) => get(result, 'statusUpdate', 'status', 'state'),
  },
];

const send = async (
  server: ServerClient,
  agent: string,
  version: Version,
  message: object,
): Promise<unknown> => {
  const result = await rpcResult(server, `/a2a/${agent}`, version.send, { message });
  const task = version.task(result);
  server.own(getText(task, 'contextId'));
  return task;
};

const checkState = (task: unknown, version: Version, plain: string): void =>
  checkEqual('state', get(task, 'status', 'state'), version.state(plain));

const scenariosOf = (version: Version): Scenarios => ({
  [`${version.name}: a message starts a task, and reading the task returns the same answer`]: async (
    server,
  ) => {
    const task = await send(server, server.agent, version, version.message({ text: question }));
    checkState(task, version, 'completed');
    getText(task, 'artifacts', 0, 'parts', 0, 'text');
    const id = getText(task, 'id');
    const again = await rpcResult(server, `/a2a/${server.agent}`, version.get, { id });
    checkEqual('the artifacts', get(again, 'artifacts'), get(task, 'artifacts'));
  },
  [`${version.name}: sending a message twice starts one task`]: async (server) => {
    const message = version.message({ text: question });
    const first = await send(server, server.agent, version, message);
    const second = await send(server, server.agent, version, message);
    checkEqual('the id of the task', get(second, 'id'), get(first, 'id'));
  },
  [`${version.name}: a stream ends with the final state`]: async (server) => {
    const body = rpcRequest(version.stream, { message: version.message({ text: question }) });
    const { events } = await server.stream('POST', `/a2a/${server.agent}`, body);
    const states = [];
    for await (const { data } of events) {
      checkEqual('the id of an event', get(data, 'id'), 7);
      const result = get(data, 'result');
      const context = get(version.task(result), 'contextId');
      if (typeof context === 'string') server.own(context);
      states.push(version.streamedState(result));
    }
    checkEqual('the last state', states.at(-1), version.state('completed'));
  },
  [`${version.name}: a message continues a task that needs input`]: async (server) => {
    const asked = await send(server, server.approval, version, version.message({ data: { topic: 'a2a' } }));
    checkState(asked, version, 'input-required');
    const taskId = getText(asked, 'id');
    const answer = version.message({ data: { approve: true } }, { taskId });
    const done = await send(server, server.approval, version, answer);
    checkEqual('the id of the task', get(done, 'id'), taskId);
    checkState(done, version, 'completed');
    const late = { message: version.message({ text: 'more' }, { taskId }) };
    const code = await rpcErrorCode(server, `/a2a/${server.approval}`, version.send, late);
    checkEqual('the code for a message to an ended task', code, -32_004);
  },
  [`${version.name}: an unknown task gets -32001`]: async (server) => {
    const code = await rpcErrorCode(server, `/a2a/${server.agent}`, version.get, { id: unknownId() });
    checkEqual('code', code, -32_001);
  },
});

export const a2a: AreaScenarios = {
  area: 'a2a',
  absent: async (server) => {
    const { status, body } = await rpcSend(
      server,
      `/a2a/${server.agent}`,
      rpcRequest('tasks/get', { id: 'x' }),
    );
    const isMissing = (status === 404 || status === 405) && get(body, 'jsonrpc') === undefined;
    return isMissing ? 'the server has no /a2a' : undefined;
  },
  scenarios: {
    'the card of an agent names its address and skills': async (server) => {
      const path = `/.well-known/agent-card.json?assistant_id=${server.agent}`;
      const card = await server.call('GET', path);
      getText(card, 'name');
      getText(card, 'description');
      check(getText(card, 'url').includes('/a2a/'), 'the address of the agent', card);
      check(getList(card, 'skills').length > 0, 'a skill', card);
    },
    ...Object.assign({}, ...versions.map(scenariosOf)),
    'a batch gets 400, an unknown method -32601, an unknown agent 404': async (server) => {
      const path = `/a2a/${server.agent}`;
      checkStatus(await rpcSend(server, path, [rpcRequest('tasks/get')]), 400);
      checkEqual('code', await rpcErrorCode(server, path, 'no/such'), -32_601);
      const unknown = rpcRequest('tasks/get', { id: unknownId() });
      checkStatus(await rpcSend(server, `/a2a/${unknownId()}`, unknown), 404);
    },
  },
};
