// The runtime of CopilotKit: a server of its own, which passes the authorization of its clients on to the agent.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { HttpAgent } from '@ag-ui/client';
import { LangGraphAgent } from '@copilotkit/runtime/langgraph';
import { CopilotRuntime } from '@copilotkit/runtime/v2';
import { createCopilotNodeListener } from '@copilotkit/runtime/v2/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bearer, openDeployment, type Deployment } from '../../deployment.ts';

let deployment: Deployment;
let runtime: Server;
beforeAll(async () => {
  process.env['COPILOTKIT_TELEMETRY_DISABLED'] = 'true';
  deployment = await openDeployment();
  const { url } = await deployment.start();
  const agent = new LangGraphAgent({ deploymentUrl: url, graphId: 'agent' });
  const options = { runtime: new CopilotRuntime({ agents: { default: agent } }), basePath: '/api' };
  runtime = createServer((request, response) => void createCopilotNodeListener(options)(request, response));
  await once(runtime.listen(0, '127.0.0.1'), 'listening');
});
afterAll(async () => {
  runtime.closeAllConnections();
  runtime.close();
  await deployment[Symbol.asyncDispose]();
});

/** What the hooks of CopilotKit use in a browser. */
const openAgent = (headers: Record<string, string>) => {
  const { port } = runtime.address() as AddressInfo;
  return new HttpAgent({
    url: `http://127.0.0.1:${port}/api/agent/default/run`,
    headers,
    threadId: randomUUID(),
  });
};

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
