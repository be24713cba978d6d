// The official client of the Model Context Protocol, and the adapters that make tools of LangChain from it.
import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatInput } from '../../../server/test/chat-input.ts';
import { bearer, openServer, type Server } from '../../deployment.ts';

let server: Server;
let url: string;
beforeAll(async () => {
  server = await openServer();
  url = `${server.url}/mcp`;
});
afterAll(() => server?.[Symbol.asyncDispose]());

describe('the client of the Model Context Protocol', () => {
  const connect = async (headers: Record<string, string>) => {
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }) as never,
    );
    return client;
  };

  it('lists assistants as tools and calls one', async () => {
    const client = await connect(bearer());
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['agent']);
    const { structuredContent } = await client.callTool({ name: 'agent', arguments: chatInput('hello') });
    expect(structuredContent).toMatchObject({ messages: [{}, { content: 'You said: hello' }] });
    await client.close();
  });

  it('is refused without a token', async () => {
    await expect(connect({})).rejects.toThrow('Log in first');
  });
});

describe('@langchain/mcp-adapters', () => {
  it('makes tools of assistants, and invokes them', async () => {
    const client = new MultiServerMCPClient({
      mcpServers: { svc: { transport: 'http', url, headers: bearer() } },
    });
    const [tool] = await client.getTools();
    expect(tool?.name).toBe('agent');
    expect(JSON.stringify(await tool?.invoke(chatInput('hello')))).toContain('You said: hello');
    await client.close();
  });
});
