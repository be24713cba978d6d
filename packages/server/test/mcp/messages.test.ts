// Messages of the Model Context Protocol that the official client does not send.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startTestServer, type TestServer } from '../server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ settings: { bodyLimit: '1MB' } });
});
afterAll(() => server[Symbol.asyncDispose]());

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
    const call = callOf({ name: 'probe', arguments: { do: 'sleep', ms: 300 } });
    const headers = { 'mcp-session-id': 'one-session' };
    const before = await endedRuns();
    const answers = await Promise.all([send(call, headers), send(call, headers)]);
    for (const answer of answers)
      expect(answer.body).toMatchObject({ result: { structuredContent: { out: 'slept' } } });
    // Two runs of 300 ms would both be counted before this one ends.
    await send(callOf({ name: 'probe', arguments: { do: 'sleep', ms: 600 } }));
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
