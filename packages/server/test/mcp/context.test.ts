// The argument `context` of tools.
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../server.ts';

let server: TestServer;
beforeAll(async () => {
  const project = fileURLToPath(new URL('./project/svc.json', import.meta.url));
  server = await startTestServer({ project });
});
afterAll(() => server[Symbol.asyncDispose]());

interface Tool {
  name: string;
  inputSchema: { properties: Record<string, Record<string, unknown>>; required?: string[] };
}
interface Answer {
  result?: { tools?: Tool[]; structuredContent?: { answer: string }; isError?: boolean };
  error?: { code: number; message: string };
}

const send = async (method: string, params: object): Promise<Answer> =>
  (await server.call('POST', '/mcp', { jsonrpc: '2.0', id: 1, method, params })).body as Answer;
const callTool = (name: string, args: object) => send('tools/call', { name, arguments: args });
const schemaOf = async (name: string) =>
  (await send('tools/list', {})).result?.tools?.find((tool) => tool.name === name)?.inputSchema;

describe('a tool of a graph with a context schema', () => {
  it('has the argument context, whose members are all optional', async () => {
    const schema = await schemaOf('tenant');
    expect(schema?.properties['question']).toEqual({ type: 'string' });
    expect(schema?.properties['context']).toMatchObject({
      type: 'object',
      properties: { tenant: { type: 'string' }, language: { type: 'string' } },
    });
    expect(schema?.properties['context']?.['required']).toBeUndefined();
    expect(schema?.required ?? []).not.toContain('context');
  });

  it('gives the context to the run, merged into that of the assistant', async () => {
    const called = await callTool('tenant', { question: 'who?', context: { tenant: 'acme' } });
    expect(called.result?.structuredContent?.answer).toMatch(/^who\? .*"tenant":"acme"/);
    const assistant = { graph_id: 'tenant', name: 'helper', context: { tenant: 'base', language: 'no' } };
    const { assistant_id } = (await server.call('POST', '/assistants', assistant)).body as {
      assistant_id: string;
    };
    const name = `helper-${assistant_id.replaceAll('-', '')}`;
    const merged = await callTool(name, { question: 'who?', context: { tenant: 'acme' } });
    expect(merged.result?.structuredContent?.answer).toContain('{"tenant":"acme","language":"no"}');
    const alone = await callTool(name, { question: 'who?' });
    expect(alone.result?.structuredContent?.answer).toContain('{"tenant":"base","language":"no"}');
  });

  it.each(['acme', [['acme']], 1, null])('refuses the context %j', async (context) => {
    const { error } = await callTool('tenant', { question: 'who?', context });
    expect(error).toMatchObject({ code: -32_602, message: 'params.arguments.context: must be an object' });
  });

  it('gives an input with a member of this name the argument', async () => {
    expect((await schemaOf('taken'))?.properties['context']).toEqual({ type: 'string' });
    const { result } = await callTool('taken', { context: 'mine' });
    expect(result?.structuredContent?.answer).toBe('given mine');
  });

  it('has a context of any members when the schema has references', async () => {
    expect((await schemaOf('recursive'))?.properties['context']).toEqual({
      type: 'object',
      description: 'The context of the run',
    });
    const { result } = await callTool('recursive', { question: 'x', context: { tree: { children: [] } } });
    expect(result?.structuredContent?.answer).toContain('"tree":{"children":[]}');
  });
});
