// The official client of the Model Context Protocol, against the server.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startTestServer, type TestServer } from '../server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const connect = async (path = '/mcp') => {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(server.url + path));
  await client.connect(transport as never);
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
};

const allTools = async (client: Client) => {
  const tools = [];
  for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
    const page = await client.listTools(cursor === undefined ? {} : { cursor });
    tools.push(...page.tools);
    cursor = page.nextCursor;
  }
  return tools;
};

const textOf = (result: object): string => (result as { content: { text: string }[] }).content[0]?.text ?? '';

const statuses = async (): Promise<string[]> => {
  const query = { name: 'mcp_runs', text: `select status from runs where status in ('pending', 'running')` };
  return (await server.database.query<{ status: string }>(query, [])).map(({ status }) => status);
};

describe('a client of the Model Context Protocol', () => {
  it.each(['/mcp', '/mcp/'])('connects to %s', async (path) => {
    await using client = await connect(path);
    expect(client.getServerVersion()?.name).toBe('svc');
    await client.ping();
  });

  it('gets a tool for each assistant, with the input schema of its graph', async () => {
    await using client = await connect();
    const tools = await allTools(client);
    const chat = tools.find(({ name }) => name === 'chat');
    expect(chat?.inputSchema).toMatchObject({ type: 'object', properties: { messages: {} } });
    // A graph that cannot be loaded is a tool, too: a call says why.
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['approval', 'broken', 'probe']));
  });

  it('gets the tools in pages, each once', async () => {
    const names = Array.from({ length: 60 }, (_, at) => `agent ${at}`);
    for (const name of names)
      await server.call('POST', '/assistants', { graph_id: 'probe', name, description: `about ${name}` });
    await using client = await connect();
    expect((await client.listTools()).nextCursor).toBeDefined();
    const tools = await allTools(client);
    expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length);
    expect(tools.filter(({ title }) => names.includes(title ?? ''))).toHaveLength(60);
    const last = tools.find(({ title }) => title === 'agent 59');
    expect(last).toMatchObject({
      description: 'about agent 59',
      name: expect.stringMatching(/^agent_59-[0-9a-f]{32}$/),
    });
    const result = await client.callTool({ name: last?.name ?? '', arguments: { do: 'date' } });
    expect(result.isError).toBeUndefined();
  });

  it('calls a tool and gets the output of the run, as text and as an object', async () => {
    await using client = await connect();
    const result = await client.callTool({
      name: 'chat',
      arguments: { messages: [{ role: 'user', content: 'hello' }] },
    });
    expect(result.structuredContent).toMatchObject({
      messages: [{ content: 'hello' }, { content: 'echo hello' }],
    });
    expect(JSON.parse(textOf(result))).toEqual(result.structuredContent);
    // The run is stateless: it leaves no thread.
    expect((await server.call('POST', '/threads/search', {})).body).toEqual([]);
  });

  it('gets a tool error when the run fails', async () => {
    await using client = await connect();
    const result = await client.callTool({ name: 'probe', arguments: { do: 'throw' } });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain('the graph failed on purpose');
  });

  it('learns that the run was interrupted', async () => {
    await using client = await connect();
    const result = await client.callTool({ name: 'approval', arguments: {} });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain('send?');
    expect(result.structuredContent).toMatchObject({ log: ['written'] });
  });

  it('gets progress notifications while the graph runs', async () => {
    await using client = await connect();
    const progress: { progress: number; message?: string | undefined }[] = [];
    const result = await client.callTool({ name: 'chat', arguments: { messages: [] } }, undefined, {
      onprogress: (one) => progress.push(one),
    });
    expect(result.structuredContent).toMatchObject({ messages: [{ content: 'echo undefined' }] });
    expect(progress).toEqual([expect.objectContaining({ progress: 1, message: 'answer' })]);
  });

  it.each([
    ['without', {}],
    ['with', { onprogress: () => undefined }],
  ])('cancels the run of a cancelled request, %s progress', async (_, options) => {
    await using client = await connect();
    const abort = new AbortController();
    const call = client.callTool({ name: 'probe', arguments: { do: 'hang' } }, undefined, {
      ...options,
      signal: abort.signal,
    });
    const outcome = expect(call).rejects.toThrow();
    await eventually(async () => expect(await statuses()).toEqual(['running']));
    abort.abort();
    await outcome;
    await eventually(async () => expect(await statuses()).toEqual([]));
  });

  it('cancels its runs when it closes the connection', async () => {
    const client = await connect();
    const call = client.callTool({ name: 'probe', arguments: { do: 'hang' } });
    const outcome = expect(call).rejects.toThrow();
    await eventually(async () => expect(await statuses()).toEqual(['running']));
    await client.close();
    await outcome;
    await eventually(async () => expect(await statuses()).toEqual([]));
  });

  it('gets an error for an unknown tool', async () => {
    await using client = await connect();
    await expect(client.callTool({ name: 'nobody', arguments: {} })).rejects.toThrow('Unknown tool: nobody');
  });
});
