// The official client of the A2A protocol, which sends the token of its user with every request.
import { type Message, Role, type Task, TaskState } from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from '@a2a-js/sdk/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bearer, openServer, tokens, type Server } from '../../deployment.ts';

let server: Server;
beforeAll(async () => {
  server = await openServer();
});
afterAll(() => server?.[Symbol.asyncDispose]());

const connect = (headers: Record<string, string>): Promise<Client> => {
  const fetchImpl: typeof fetch = (url, init) => {
    const sent = new Headers(init?.headers);
    for (const [name, value] of Object.entries(headers)) sent.set(name, value);
    return fetch(url, { ...init, headers: sent });
  };
  const factory = new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      transports: [new JsonRpcTransportFactory({ fetchImpl })],
      cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
    }),
  );
  return factory.createFromUrl(server.url, '/.well-known/agent-card.json?assistant_id=agent');
};

const request = (text: string, of: Partial<Message> = {}) => ({
  tenant: '',
  message: {
    messageId: crypto.randomUUID(),
    contextId: '',
    taskId: '',
    role: Role.ROLE_USER,
    parts: [
      { content: { $case: 'text' as const, value: text }, metadata: undefined, filename: '', mediaType: '' },
    ],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
    ...of,
  },
  configuration: undefined,
  metadata: undefined,
});

const send = async (client: Client, ...message: Parameters<typeof request>): Promise<Task> =>
  (await client.sendMessage(request(...message))) as Task;

const answerOf = ({ artifacts }: Task) =>
  artifacts.map(({ parts }) => parts.map(({ content }) => content?.value as unknown));

describe('the client of A2A', () => {
  it('gets the answer to a message', async () => {
    const task = await send(await connect(bearer()), 'hello');
    expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(answerOf(task)).toEqual([['You said: hello']]);
  });

  it('streams an answer', async () => {
    const client = await connect(bearer());
    const kinds: unknown[] = [];
    for await (const { payload } of client.sendMessageStream(request('hello'))) kinds.push(payload?.$case);
    expect(kinds[0]).toBe('task');
    expect(kinds).toContain('artifactUpdate');
  });

  it('is asked for input, and goes on with the answer', async () => {
    const client = await connect(bearer());
    const { id: taskId, contextId, status } = await send(client, 'a letter');
    expect(status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    const task = await send(client, 'yes', { taskId, contextId });
    expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(answerOf(task)).toEqual([['The letter is sent.']]);
  });

  it('gets no task of another user', async () => {
    const { id, contextId } = await send(await connect(bearer()), 'a secret');
    const foreign = await connect(bearer(tokens.ben));
    await expect(foreign.getTask({ tenant: '', id, historyLength: 1 })).rejects.toThrow(/not found/i);
    await expect(send(foreign, 'and?', { contextId })).rejects.toThrow('no such context');
  });

  it('is refused without a token', async () => {
    await expect(connect({})).rejects.toThrow('401');
  });
});
