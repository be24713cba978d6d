// AG-UI: its LangGraph agent turns runs into AG-UI events.
import { randomUUID } from 'node:crypto';
import type { BaseEvent, Message, RunAgentParameters } from '@ag-ui/client';
import { LangGraphAgent } from '@ag-ui/langgraph';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bearer, openServer, tokens, type Server } from '../../deployment.ts';

let server: Server;
beforeAll(async () => {
  server = await openServer();
});
afterAll(() => server?.[Symbol.asyncDispose]());

const openAgent = (token: string = tokens.ann, threadId: string = randomUUID()) =>
  new LangGraphAgent({
    deploymentUrl: server.url,
    graphId: 'agent',
    propertyHeaders: bearer(token),
    emitInterruptOutcome: true,
    threadId,
  });

type Agent = ReturnType<typeof openAgent>;

const run = async (agent: Agent, text?: string, input: RunAgentParameters = {}): Promise<BaseEvent[]> => {
  if (text !== undefined) agent.addMessage({ id: randomUUID(), role: 'user', content: text });
  const events: BaseEvent[] = [];
  await agent.runAgent(input, { onEvent: ({ event }) => void events.push(event) });
  return events;
};

const typesOf = (events: BaseEvent[]): string[] => events.map(({ type }) => type);

const textsOf = (messages: readonly Message[]) =>
  messages.map(
    ({ role, content }) => `${role}: ${typeof content === 'string' ? content : JSON.stringify(content)}`,
  );

describe('an AG-UI agent', () => {
  it('streams an answer token by token', async () => {
    const agent = openAgent();
    const events = await run(agent, 'hello');
    const texts = events.filter(({ type }) => (type as string) === 'TEXT_MESSAGE_CONTENT');
    const deltas = texts.map((event) => (event as { delta?: unknown }).delta);
    expect(deltas).toEqual(['You', ' said:', ' hello']);
    expect(typesOf(events)[0]).toBe('RUN_STARTED');
    expect(typesOf(events).at(-1)).toBe('RUN_FINISHED');
    expect(textsOf(agent.messages)).toEqual(['user: hello', 'assistant: You said: hello']);
    await run(agent, 'again');
    expect(textsOf(agent.messages).slice(2)).toEqual(['user: again', 'assistant: You said: again']);
  });

  it('streams a tool call and its result', async () => {
    const agent = openAgent();
    const events = await run(agent, 'weather?');
    expect(typesOf(events)).toEqual(
      expect.arrayContaining(['TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END']),
    );
    const snapshot = events.findLast(({ type }) => (type as string) === 'MESSAGES_SNAPSHOT');
    expect(snapshot).toMatchObject({
      messages: [
        { role: 'user' },
        { role: 'assistant', toolCalls: [{ function: { name: 'weather' } }] },
        { role: 'tool', content: 'snow in Oslo' },
        { role: 'assistant', content: 'It is snow in Oslo.' },
      ],
    });
  });

  it('gets an interrupt and resumes with the answer', async () => {
    const agent = openAgent();
    const events = await run(agent, 'a letter');
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'interrupt' } });
    const { outcome } = events.at(-1) as unknown as { outcome: { interrupts: { id: string }[] } };
    expect(JSON.stringify(outcome.interrupts)).toContain('Send the letter?');
    const [{ id: interruptId }] = outcome.interrupts as [{ id: string }];
    await run(agent, undefined, { resume: [{ interruptId, status: 'resolved', payload: 'yes' }] });
    expect(textsOf(agent.messages).at(-1)).toBe('assistant: The letter is sent.');
  });

  it('is refused on a thread of another user', async () => {
    const agent = openAgent();
    await run(agent, 'a secret');
    const foreign = openAgent(tokens.ben, agent.threadId);
    await expect(run(foreign, 'what did Ann say?')).rejects.toThrow();
    expect(textsOf(foreign.messages).join()).not.toContain('secret');
  });
});
