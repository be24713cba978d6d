// The runtime of CopilotKit: a server of its own, which passes the authorization of its clients on to the agent.
import { randomUUID } from 'node:crypto';
import { HttpAgent } from '@ag-ui/client';
import { LangGraphAgent } from '@copilotkit/runtime/langgraph';
import { CopilotRuntime } from '@copilotkit/runtime/v2';
import { createCopilotNodeListener } from '@copilotkit/runtime/v2/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveHttp, type HttpServer } from '../../../server/test/serve-http.ts';
import { bearer, openServer, type Server } from '../../deployment.ts';

let server: Server;
let runtime: HttpServer;
beforeAll(async () => {
  process.env['COPILOTKIT_TELEMETRY_DISABLED'] = 'true';
  server = await openServer();
  const agent = new LangGraphAgent({ deploymentUrl: server.url, graphId: 'agent' });
  const options = { runtime: new CopilotRuntime({ agents: { default: agent } }), basePath: '/api' };
  runtime = await serveHttp(
    (request, response) => void createCopilotNodeListener(options)(request, response),
  );
});
afterAll(async () => {
  await runtime?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

/** What the hooks of CopilotKit use in a browser. */
const openAgent = (headers: Record<string, string>) =>
  new HttpAgent({ url: `${runtime.url}/api/agent/default/run`, headers, threadId: randomUUID() });

type Agent = ReturnType<typeof openAgent>;

const ask = async (agent: Agent, text?: string, forwardedProps: object = {}): Promise<string[]> => {
  if (text !== undefined) agent.addMessage({ id: randomUUID(), role: 'user', content: text });
  const events: string[] = [];
  await agent.runAgent(
    { forwardedProps },
    { onEvent: ({ event }) => void events.push(JSON.stringify(event)) },
  );
  return events;
};

const lastOf = ({ messages }: Agent) => messages.at(-1);

describe('the runtime of CopilotKit', () => {
  it('streams answers, and the answer to the next message', async () => {
    const agent = openAgent(bearer());
    await ask(agent, 'hello');
    expect(lastOf(agent)).toMatchObject({ role: 'assistant', content: 'You said: hello' });
    await ask(agent, 'again');
    expect(agent.messages).toHaveLength(4);
    expect(lastOf(agent)).toMatchObject({ role: 'assistant', content: 'You said: again' });
  });

  it('streams a tool call and its result', async () => {
    const agent = openAgent(bearer());
    await ask(agent, 'weather?');
    const weather = expect.objectContaining({ name: 'weather', arguments: '{"city":"Oslo"}' }) as unknown;
    const call = expect.objectContaining({ function: weather }) as unknown;
    // The client puts the result behind the answer.
    expect(agent.messages).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ role: 'assistant', toolCalls: [call] }),
        expect.objectContaining({ role: 'tool', content: 'snow in Oslo' }),
        expect.objectContaining({ role: 'assistant', content: 'It is snow in Oslo.' }),
      ]),
    );
  });

  it('asks a person and goes on with the answer', async () => {
    const agent = openAgent(bearer());
    const events = await ask(agent, 'a letter');
    expect(events.join()).toContain('Send the letter?');
    await ask(agent, undefined, { command: { resume: 'yes' } });
    expect(lastOf(agent)).toMatchObject({ role: 'assistant', content: 'The letter is sent.' });
  });

  it('is refused when its client sends no token', async () => {
    const agent = openAgent({});
    const events = await ask(agent, 'hello').catch((error: unknown) => [String(error)]);
    expect(events.join()).toMatch(/RUN_ERROR|401/);
    expect(agent.messages).toHaveLength(1);
  });
});
