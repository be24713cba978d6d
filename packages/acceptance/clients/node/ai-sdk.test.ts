// The transport of @ai-sdk/langchain for `useChat` of the AI SDK.
import { LangSmithDeploymentTransport } from '@ai-sdk/langchain';
import { readUIMessageStream, type UIMessage } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collect } from '../../../server/test/collect.ts';
import { bearer, openServer, type Server } from '../../deployment.ts';

let server: Server;
beforeAll(async () => {
  server = await openServer();
});
afterAll(() => server?.[Symbol.asyncDispose]());

const send = async (text: string, headers: Record<string, string> = bearer()) => {
  const transport = new LangSmithDeploymentTransport({ url: server.url, graphId: 'agent', headers });
  const message: UIMessage = { id: 'one', role: 'user', parts: [{ type: 'text', text }] };
  const stream = await transport.sendMessages({
    trigger: 'submit-message',
    chatId: 'chat',
    messageId: undefined,
    messages: [message],
    abortSignal: undefined,
  });
  return collect(readUIMessageStream({ stream }));
};

const textOf = (message: UIMessage | undefined): string =>
  message?.parts.map((part) => (part.type === 'text' ? part.text : '')).join('') ?? '';

describe('the transport of the AI SDK', () => {
  it('streams an answer token by token', async () => {
    const states = await send('hello');
    expect(states.map(textOf)).toEqual(expect.arrayContaining(['You', 'You said:', 'You said: hello']));
    expect(textOf(states.at(-1))).toBe('You said: hello');
  });

  it('streams a tool call with its result, and the answer', async () => {
    const message = (await send('weather?')).at(-1);
    expect(message?.parts).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ toolCallId: 'call_1', state: 'output-available', output: 'snow in Oslo' }),
      ]),
    );
    expect(textOf(message)).toContain('It is snow in Oslo.');
  });

  it('is refused without a token', async () => {
    await expect(send('hello', {})).rejects.toThrow('401');
  });
});
