// The LangGraph transport of assistant-ui: its stream callback, and the accumulator from which its runtime shows messages.
import {
  appendLangChainChunk,
  LangGraphMessageAccumulator,
  unstable_createLangGraphStream,
  type LangChainMessage,
  type LangGraphSendMessageConfig,
} from '@assistant-ui/react-langgraph';
import { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../server/test/eventually.ts';
import { bearer, openServer, type Server } from '../../deployment.ts';

let server: Server;
let client: Client;
beforeAll(async () => {
  server = await openServer();
  client = new Client({ apiUrl: server.url, defaultHeaders: bearer() });
});
afterAll(() => server?.[Symbol.asyncDispose]());

const openThread = async () => {
  const { thread_id } = await client.threads.create();
  const stream = unstable_createLangGraphStream({ client, assistantId: 'agent' });
  const shown = new LangGraphMessageAccumulator<LangChainMessage>({ appendMessage: appendLangChainChunk });
  const abort = new AbortController();
  const send = (messages: LangChainMessage[], config: Partial<LangGraphSendMessageConfig> = {}) =>
    stream(messages, {
      ...config,
      abortSignal: abort.signal,
      initialize: () => Promise.resolve({ remoteId: thread_id, externalId: thread_id }),
    } as never);
  return { thread_id, send, shown, abort };
};

type Events = Awaited<ReturnType<Awaited<ReturnType<typeof openThread>>['send']>>;

/** Reads events as the runtime of assistant-ui does. */
const show = async (events: Events, shown: LangGraphMessageAccumulator<LangChainMessage>) => {
  const names = new Set<string>();
  for await (const { event, data } of events) {
    names.add(event);
    if (event === 'messages/partial' || event === 'messages/complete')
      shown.addMessages(data as LangChainMessage[]);
  }
  return names;
};

const textsOf = (shown: LangGraphMessageAccumulator<LangChainMessage>) =>
  shown.getMessages().map(({ content }) => content);

describe("assistant-ui's transport", () => {
  it('shows an answer from partial messages, and gets updates', async () => {
    const { send, shown } = await openThread();
    const names = await show(await send([{ type: 'human', content: 'hello' }]), shown);
    expect(textsOf(shown).at(-1)).toBe('You said: hello');
    expect([...names]).toEqual(expect.arrayContaining(['messages/partial', 'updates']));
  });

  it('shows a tool call and its result', async () => {
    const { send, shown } = await openThread();
    await show(await send([{ type: 'human', content: 'weather?' }]), shown);
    expect(shown.getMessages()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ tool_calls: [expect.objectContaining({ name: 'weather' })] }),
        expect.objectContaining({ type: 'tool', content: 'snow in Oslo' }),
      ]),
    );
  });

  it('resumes an interrupt with a command', async () => {
    const { thread_id, send, shown } = await openThread();
    await show(await send([{ type: 'human', content: 'a letter' }]), shown);
    const { tasks } = await client.threads.getState(thread_id);
    expect(tasks[0]?.interrupts[0]?.value).toMatchObject({ question: 'Send the letter?' });
    await show(await send([], { command: { resume: 'yes' } }), shown);
    expect(textsOf(shown).at(-1)).toBe('The letter is sent.');
  });

  it('cancels the run when its signal is aborted', async () => {
    const { thread_id, send, abort } = await openThread();
    const events = await send([{ type: 'human', content: `count ${server.gate().name}` }]);
    for await (const { event } of events) if (event === 'messages/partial') break;
    abort.abort();
    await eventually(async () =>
      expect(await client.runs.list(thread_id)).toMatchObject([{ status: 'interrupted' }]),
    );
  });
});
