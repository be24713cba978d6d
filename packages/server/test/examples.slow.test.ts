// Examples that need more than two seconds of CPU.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@langchain/langgraph-sdk';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from './eventually.ts';
import { python, whyNoPythonClients } from './python-clients/python.ts';
import { startTestServer } from './server.ts';

describe('examples/custom-routes', () => {
  it('greets by a run, and lists the runs whose webhooks it got', async () => {
    await using server = await startTestServer({
      project: fileURLToPath(new URL('../../../examples/custom-routes/svc.json', import.meta.url)),
    });
    expect(await server.call('GET', '/greet/Ann')).toMatchObject({ body: { greeting: 'Hello, Ann!' } });
    const client = new Client({ apiUrl: server.url });
    await client.runs.wait(null, 'greeter', { input: { name: 'Bob' }, webhook: '/hooks/run' });
    await eventually(async () =>
      expect((await server.call('GET', '/ended-runs')).body).toMatchObject([{ status: 'success' }]),
    );
    expect((await server.call('GET', '/info')).headers.get('server-timing')).toMatch(/^app;dur=\d+$/);
  });
});

describe.skipIf(whyNoPythonClients() !== undefined)('examples/agent-python', () => {
  const { VIRTUAL_ENV } = process.env;
  beforeEach(() => {
    process.env['VIRTUAL_ENV'] = join(python, '../..');
  });
  afterEach(() => {
    if (VIRTUAL_ENV === undefined) delete process.env['VIRTUAL_ENV'];
    else process.env['VIRTUAL_ENV'] = VIRTUAL_ENV;
  });

  it('calls a tool, answers, remembers the conversation, and streams its words', async () => {
    await using server = await startTestServer({
      project: fileURLToPath(new URL('../../../examples/agent-python/svc.json', import.meta.url)),
    });
    const client = new Client({ apiUrl: server.url });
    const { thread_id } = await client.threads.create();
    const question = (content: string) => ({ messages: [{ role: 'user', content }] });
    await client.runs.wait(thread_id, 'agent', { input: question('What is the weather in Oslo?') });
    const { messages } = (await client.runs.wait(thread_id, 'agent', {
      input: question('And 2 plus 40?'),
    })) as { messages: { type: string; content: string }[] };
    const turn = ['human', 'ai', 'tool', 'ai'];
    expect(messages.map(({ type }) => type)).toEqual([...turn, ...turn]);
    expect(messages.at(3)?.content).toBe('The weather: snow, -3 °C.');
    expect(messages.at(-1)?.content).toBe('The sum is 42.0.');
    const words: string[] = [];
    for await (const { event, data } of client.runs.stream(null, 'agent', {
      input: question('weather in Lisbon'),
      streamMode: 'messages-tuple',
    }))
      if (event === 'messages' && data[0].type.startsWith('AI') && data[0].content)
        words.push(data[0].content as string);
    expect(words).toEqual(['The ', 'weather: ', 'sunny, ', '24 ', '°C.']);
  });
});
