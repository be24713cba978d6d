// The Model Context Protocol: assistants as tools.
import { check, CheckFailed, checkEqual, checkStatus, get, getList, getText } from '../check.ts';
import type { AreaScenarios } from '../scenario.ts';
import type { ServerClient } from '../server-client.ts';
import { assistantName, checkConversation, question, withAssistant } from './agents.ts';
import { rpcErrorCode, rpcRequest, rpcResult, rpcSend } from './json-rpc.ts';

const path = '/mcp';
const version = '2025-06-18';
const initialize = {
  protocolVersion: version,
  capabilities: {},
  clientInfo: { name: 'conformance', version: '1' },
};

/** The tool of a new assistant: the caller sees those that it has created. */
const withTool = (server: ServerClient, use: (tool: unknown) => Promise<void> | void): Promise<void> =>
  withAssistant(server, async () => {
    for (let cursor: unknown, isMore = true; isMore; isMore = cursor !== undefined) {
      const page = await rpcResult(server, path, 'tools/list', cursor === undefined ? {} : { cursor });
      const tool = getList(page, 'tools').find((one) => getText(one, 'name').startsWith(assistantName));
      if (tool !== undefined) return use(tool);
      cursor = get(page, 'nextCursor');
    }
    throw new CheckFailed(`expected a tool whose name begins with ${assistantName}`);
  });

export const mcp: AreaScenarios = {
  area: 'mcp',
  absent: async (server) => {
    const { status } = await rpcSend(server, path, rpcRequest('ping'));
    return status === 404 || status === 405 ? 'the server has no /mcp' : undefined;
  },
  scenarios: {
    'initialize agrees on a version and offers tools': async (server) => {
      const result = await rpcResult(server, path, 'initialize', initialize);
      checkEqual('protocolVersion', get(result, 'protocolVersion'), version);
      check(get(result, 'capabilities', 'tools') !== undefined, 'tools as a capability', result);
      getText(result, 'serverInfo', 'name');
    },
    'tools/list has a tool for an assistant, with an input schema': (server) =>
      withTool(server, (tool) => {
        checkEqual('type', get(tool, 'inputSchema', 'type'), 'object');
        const messages = get(tool, 'inputSchema', 'properties', 'messages');
        check(messages !== undefined, 'messages in the schema', tool);
      }),
    'tools/call runs the assistant and returns its output': (server) =>
      withTool(server, async (tool) => {
        const messages = [{ role: 'user', content: question }];
        const params = { name: getText(tool, 'name'), arguments: { messages } };
        const result = await rpcResult(server, path, 'tools/call', params);
        check(get(result, 'isError') !== true, 'no error', result);
        checkConversation(JSON.parse(getText(result, 'content', 0, 'text')));
      }),
    'an unknown tool and an unknown method get their errors': async (server) => {
      checkEqual('code', await rpcErrorCode(server, path, 'tools/call', { name: 'no-such-tool' }), -32_602);
      checkEqual('code', await rpcErrorCode(server, path, 'no/such'), -32_601);
    },
    'a notification gets 202, a batch and a body that is not JSON get 400, GET gets 405': async (server) => {
      const notification = { jsonrpc: '2.0', method: 'notifications/initialized' };
      checkStatus(await rpcSend(server, path, notification), 202);
      checkStatus(await rpcSend(server, path, [rpcRequest('ping')]), 400);
      checkStatus(await rpcSend(server, path, '{'), 400);
      checkStatus(await server.send('GET', path), 405);
    },
  },
};
