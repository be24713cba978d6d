// Agents of `langchain` and `deepagents` in a project with its own copies of the libraries, called by the stock client.
import { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatInput } from '../../../server/test/chat-input.ts';
import { collect } from '../../../server/test/collect.ts';
import { bearer, openDeployment, type Deployment } from '../../deployment.ts';
import type { Node } from '../../node.ts';

let deployment: Deployment;
let node: Node;
let client: Client;
const start = async (): Promise<void> => {
  node = await deployment.start({ config: '../agents/svc.json' });
  client = new Client({ apiUrl: node.url, defaultHeaders: bearer() });
};
beforeAll(async () => {
  deployment = await openDeployment();
  await start();
});
afterAll(() => deployment?.[Symbol.asyncDispose]());

interface Message {
  type: string;
  content: string;
}

const textsOf = (values: unknown): string[] =>
  (values as { messages: Message[] }).messages.map(({ type, content }) => `${type}: ${content}`);

/** Runs the assistant on a new thread. */
const ask = async (assistant: string, text: string) => {
  const { thread_id } = await client.threads.create();
  const values = await client.runs.wait(thread_id, assistant, { input: chatInput(text) });
  return { thread_id, values: values as Record<string, unknown> };
};

const weatherOfOslo = ['ai: ', 'tool: snow in Oslo', 'ai: The tool said: snow in Oslo'];

describe('an agent of createAgent()', () => {
  it('calls a tool and answers', async () => {
    const { values } = await ask('assistant', 'weather?');
    expect(textsOf(values)).toEqual(['human: weather?', ...weatherOfOslo]);
  });

  it('keeps its conversation in the database, not in its own checkpointer', async () => {
    const { thread_id } = await ask('assistant', 'hello');
    await node.kill();
    await start();
    const values = await client.runs.wait(thread_id, 'assistant', { input: chatInput('again') });
    expect(textsOf(values)).toEqual([
      'human: hello',
      'ai: You said: hello',
      'human: again',
      'ai: You said: again',
    ]);
  });

  it('asks a person before it calls a tool, and goes on with the decision', async () => {
    const { thread_id } = await ask('assistant', 'a letter');
    const { interrupts } = await client.threads.get(thread_id);
    expect(Object.values(interrupts).flat()).toMatchObject([
      { value: { actionRequests: [{ name: 'send_letter', args: { to: 'Ben' } }] } },
    ]);
    const values = await client.runs.wait(thread_id, 'assistant', {
      command: { resume: { decisions: [{ type: 'approve' }] } },
    });
    expect(textsOf(values).slice(2)).toEqual([
      'tool: a letter to Ben is sent',
      'ai: The tool said: a letter to Ben is sent',
    ]);
  });

  it('streams the messages of its model', async () => {
    const { thread_id } = await client.threads.create();
    const run = { input: chatInput('hello'), streamMode: 'messages-tuple' as const };
    const streamed: unknown[] = [];
    for await (const { event, data } of client.runs.stream(thread_id, 'assistant', run))
      if (event === 'messages') streamed.push(data[0].content);
    expect(streamed).toEqual(['You said: hello']);
  });

  it('has schemas and a drawing', async () => {
    const [{ assistant_id } = { assistant_id: '' }] = await client.assistants.search({
      graphId: 'assistant',
    });
    const { input_schema } = await client.assistants.getSchemas(assistant_id);
    expect(input_schema).toMatchObject({ properties: { messages: {} } });
    const { nodes } = await client.assistants.getGraph(assistant_id);
    expect(nodes.map(({ id }) => id)).toEqual(expect.arrayContaining(['model_request', 'tools']));
  });
});

describe('an agent of createDeepAgent()', () => {
  it('writes a file to its state', async () => {
    const { thread_id } = await ask('researcher', 'a note');
    const { values } = await client.threads.getState<Record<string, unknown>>(thread_id);
    expect(JSON.stringify(values['files'])).toContain('a note');
  });

  it('delegates a task to a subagent, and streams its events with its namespace', async () => {
    const { thread_id } = await client.threads.create();
    const run = {
      input: chatInput('delegate this'),
      streamMode: 'updates' as const,
      streamSubgraphs: true,
    };
    const events: string[] = [];
    for await (const { event } of client.runs.stream(thread_id, 'researcher', run)) events.push(event);
    expect(events.filter((event) => event.startsWith('updates|tools:'))).not.toEqual([]);
    const { values } = await client.threads.getState(thread_id);
    expect(textsOf(values).at(-1)).toBe('ai: The tool said: The tool said: snow in Oslo');
  });

  it('shows its subagents, with their own tool calls, to the stock client of the thread protocol', async () => {
    const thread = client.threads.stream({ assistantId: 'researcher' });
    const { subagents } = thread;
    await thread.run.start({ input: chatInput('delegate this') });
    for await (const subagent of subagents) {
      expect(subagent).toMatchObject({ name: 'general-purpose', callId: 'call_task' });
      expect(await subagent.taskInput).toBe('How is the weather?');
      // This client lists a call when it starts, and again when it ends.
      const calls = await collect(subagent.toolCalls);
      expect(new Set(calls.map(({ name }) => name))).toEqual(new Set(['weather']));
      break;
    }
    await thread.close();
  });
});
