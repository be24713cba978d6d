// Runs of the agents that the scenarios use.
import { randomUUID } from 'node:crypto';
import { check, get, getList, getText } from '../check.ts';
import type { ServerClient } from '../server-client.ts';

export const question = 'What is the weather in Oslo?';

export const agentRun = ({ agent }: ServerClient, fields: object = {}) => ({
  assistant_id: agent,
  input: { messages: [{ role: 'user', content: question }] },
  ...fields,
});

export const approvalRun = ({ approval }: ServerClient, fields: object = {}) => ({
  assistant_id: approval,
  input: { topic: 'conformance' },
  ...fields,
});

/** The values of an agent's run: the question, and an answer of the agent. */
export const checkConversation = (values: unknown): void => {
  const messages = getList(values, 'messages');
  check(get(messages[0], 'content') === question, 'the question as the first message', messages[0]);
  const last = messages.at(-1);
  const content = get(last, 'content');
  const isAnswer = get(last, 'type') === 'ai' && typeof content === 'string' && content !== '';
  check(isAnswer, 'an answer of type ai as the last message', last);
};

/** An id that no object has. */
export const unknownId = (): string => randomUUID();

export const assistantName = 'conformance';

/** Calls `use` with a new assistant of the agent, and deletes it. */
export const withAssistant = async (
  server: ServerClient,
  use: (id: string) => Promise<void>,
): Promise<void> => {
  const created = await server.call('POST', '/assistants', {
    graph_id: server.agent,
    name: assistantName,
    metadata: { conformance: true },
  });
  const id = getText(created, 'assistant_id');
  try {
    await use(id);
  } finally {
    await server.call('DELETE', `/assistants/${id}`);
  }
};
