// The Model Context Protocol: its official client, and messages that this client does not send.
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startTestServer } from '../server.ts';
import { fixture } from '../fixture.ts';
import { testFolder } from '../folders.ts';

const server = fixture(() => startTestServer({ settings: { bodyLimit: '1MB' } }));

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

const accept = 'application/json, text/event-stream';
const send = async (body: unknown, headers: Record<string, string> = {}) => {
  const response = await fetch(`${server.url}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
};

const request = (method: string, params?: unknown) => ({ jsonrpc: '2.0', id: 1, method, params });
const callOf = (params: unknown) => request('tools/call', params);

/** Number of statements that create a run and wait for a lock. */
const waitingCreations = async (): Promise<number> => {
  const text = `select 1 from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like '%create_run(%'`;
  return (await server.database.query({ name: 'mcp_creations', text }, [])).length;
};

/** Who reads the run that executes: `nothing` is for the request alone that has created it. */
const runLogs = async (): Promise<string[]> => {
  const text = `select log from runs where status = 'running'`;
  return (await server.database.query<{ log: string }>({ name: 'mcp_logs', text }, [])).map(({ log }) => log);
};

/** Number of runs that the server has executed: rows of stateless runs are deleted when they end. */
const endedRuns = async (): Promise<number> => {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return [...text.matchAll(/^svc_runs_ended_total\{.*\} (\d+)$/gm)].reduce(
    (sum, [, n]) => sum + Number(n),
    0,
  );
};

describe('a message that is not a request', () => {
  it.each([
    ['no JSON', '{', -32_700],
    ['a batch', [request('ping'), request('ping')], -32_600],
    ['an empty batch', [], -32_600],
    ['null', 'null', -32_600],
    ['no version', { id: 1, method: 'ping' }, -32_600],
    ['a wrong version', { ...request('ping'), jsonrpc: '1.0' }, -32_600],
    ['no method', { jsonrpc: '2.0', id: 1 }, -32_600],
    ['an id that is null', { ...request('ping'), id: null }, -32_600],
    ['an id that is an object', { ...request('ping'), id: {} }, -32_600],
    ['params that are a list', request('ping', []), -32_600],
    ['an unknown member', { ...request('ping'), no_such_key: 1 }, -32_600],
  ])('is refused with 400: %s', async (_, body, code) => {
    expect(await send(body)).toMatchObject({
      status: 400,
      body: { jsonrpc: '2.0', id: null, error: { code } },
    });
  });

  it('is refused when it is too large', async () => {
    const body = request('ping', { text: 'x'.repeat(2_000_001) });
    expect(await send(body)).toMatchObject({ status: 413, body: { id: null, error: { code: -32_600 } } });
  });

  it('is refused with an unknown query key', async () => {
    const headers = { 'content-type': 'application/json', accept };
    const body = JSON.stringify(request('ping'));
    const response = await fetch(`${server.url}/mcp?no_such_key=1`, { method: 'POST', headers, body });
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ id: null, error: { code: -32_600 } });
  });

  it('is refused without JSON as its type', async () => {
    const refused = await send(request('ping'), { 'content-type': 'text/plain' });
    expect(refused).toMatchObject({ status: 415, body: { error: { code: -32_600 } } });
  });

  it.each([
    [{ accept: 'application/json' }],
    [{ accept: 'text/event-stream' }],
    [{ 'mcp-protocol-version': '1999-01-01' }],
    [{ 'mcp-session-id': 'a b' }],
  ])('is refused with the headers %j', async (headers: Record<string, string>) => {
    expect(await send(request('ping'), headers)).toMatchObject({
      status: 400,
      body: { error: { code: -32_600 } },
    });
  });
});

describe('a request', () => {
  it('that names an unknown method gets -32601', async () => {
    const { status, body } = await send(request('resources/list'));
    expect({ status, body }).toMatchObject({ status: 200, body: { id: 1, error: { code: -32_601 } } });
  });

  it.each([
    ['no name', {}],
    ['arguments that are a list', { name: 'probe', arguments: [] }],
    ['arguments that are text', { name: 'probe', arguments: 'x' }],
    ['a progress token that is an object', { name: 'probe', _meta: { progressToken: {} } }],
    ['an unknown tool', { name: 'nobody' }],
    ['a name that no tool can have', { name: '../chat' }],
  ])('that calls a tool with invalid params gets -32602: %s', async (_, params) => {
    const { status, body } = await send(callOf(params));
    expect({ status, body }).toMatchObject({ status: 200, body: { id: 1, error: { code: -32_602 } } });
  });

  it.each(['x', '-1', '99999999'])('that lists tools with the cursor %s gets -32602', async (cursor) => {
    expect((await send(request('tools/list', { cursor }))).body).toMatchObject({ error: { code: -32_602 } });
  });

  it('to initialize gets the version that it names, or the newest for an unknown one', async () => {
    const versionFor = async (protocolVersion: string) =>
      (await send(request('initialize', { protocolVersion, capabilities: {}, clientInfo: {} }))).body;
    expect(await versionFor('2025-06-18')).toMatchObject({ result: { protocolVersion: '2025-06-18' } });
    expect(await versionFor('1999-01-01')).toMatchObject({ result: { protocolVersion: '2025-11-25' } });
  });

  it('that is repeated in a session creates its run once', async () => {
    const folder = testFolder();
    const out = join(folder, 'go');
    const headers = { 'mcp-session-id': 'one-session' };
    const before = await endedRuns();
    const call = callOf({ name: 'probe', arguments: { do: 'writeWhen', out } });
    const sending: ReturnType<typeof send>[] = [];
    // Both requests are there before either has created the run.
    await server.database.transact(async (tx) => {
      await tx.script('lock table runs in exclusive mode');
      sending.push(send(call, headers), send(call, headers));
      await eventually(async () => expect(await waitingCreations()).toBe(2));
    });
    await eventually(() => expect(existsSync(`${out}.begun`)).toBe(true));
    // The repeated request has found the run, and follows it. A stateless run is deleted when it ends.
    await eventually(async () => expect(await runLogs()).toEqual(['outcome']));
    await writeFile(out, '');
    for (const answer of await Promise.all(sending))
      expect(answer.body).toMatchObject({ result: { structuredContent: { out: 'wrote' } } });
    // A second run of the call would be counted before this one.
    await send(callOf({ name: 'probe', arguments: { do: 'date' } }));
    await eventually(async () => expect((await endedRuns()) - before).toBe(2));
  });
});

describe('a notification', () => {
  it.each([
    ['initialized', { method: 'notifications/initialized' }],
    ['of an unknown kind', { method: 'notifications/unknown' }],
    ['that cancels an unknown request', { method: 'notifications/cancelled', params: { requestId: 99 } }],
    ['that cancels nothing', { method: 'notifications/cancelled' }],
  ])('is answered with 202: %s', async (_, message) => {
    const answer = await send({ jsonrpc: '2.0', ...message }, { 'mcp-session-id': 'some-session' });
    expect(answer).toEqual({ status: 202, body: undefined });
  });

  it('may be a response, which is ignored', async () => {
    expect(await send({ jsonrpc: '2.0', id: 7, result: {} })).toEqual({ status: 202, body: undefined });
  });
});

describe('another method', () => {
  it.each(['GET', 'DELETE', 'PUT'])('%s is refused with 405', async (method) => {
    for (const path of ['/mcp', '/mcp/']) {
      const response = await fetch(server.url + path, { method, headers: { accept } });
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
      await response.body?.cancel();
    }
  });
});
