// The official client of the A2A protocol, against the server, with both versions of the protocol.
import { type Message, Role, type StreamResponse, type Task, TaskState } from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from '@a2a-js/sdk/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startTestServer, type TestServer } from '../server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const legacyCompat = { enabled: true };

/** With A2A 0.3, the client gets the card without the members of 1.0. */
const connect = async (agent: string, version: string): Promise<Client> => {
  const fetchImpl: typeof fetch = async (...request) => {
    const response = await fetch(...request);
    if (version === '1.0' || response.headers.get('content-type')?.startsWith('text/event-stream'))
      return response;
    const { supportedInterfaces: _, ...card } = (await response.json()) as Record<string, unknown>;
    return Response.json(card, { status: response.status });
  };
  const factory = new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      transports: [new JsonRpcTransportFactory({ legacyCompat })],
      cardResolver: new DefaultAgentCardResolver({ legacyCompat, fetchImpl }),
    }),
  );
  const client = await factory.createFromUrl(
    server.url,
    `/.well-known/agent-card.json?assistant_id=${agent}`,
  );
  expect(client.protocolVersion).toBe(version);
  return client;
};

const part = (content: NonNullable<Message['parts'][0]['content']>): Message['parts'][0] => ({
  content,
  metadata: undefined,
  filename: '',
  mediaType: '',
});
const text = (value: string) => part({ $case: 'text', value });
const data = (value: unknown) => part({ $case: 'data', value });

const request = (parts: Message['parts'], of: Partial<Message> = {}, returnImmediately = false) => ({
  tenant: '',
  message: {
    messageId: crypto.randomUUID(),
    contextId: '',
    taskId: '',
    role: Role.ROLE_USER,
    parts,
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
    ...of,
  },
  configuration: { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately },
  metadata: undefined,
});

const send = async (client: Client, ...message: Parameters<typeof request>): Promise<Task> =>
  (await client.sendMessage(request(...message))) as Task;

const collect = async (events: AsyncIterable<StreamResponse>) => {
  const collected = [];
  for await (const { payload } of events) collected.push(payload);
  return collected;
};

const contentOf = (task: Task) =>
  task.artifacts.map(({ parts }) => parts.map(({ content }) => content?.value as unknown));
const runs = async (): Promise<number> => {
  const counting = { name: 'a2a_runs', text: 'select count(*)::int as count from runs' };
  return (await server.database.query<{ count: number }>(counting, []))[0]?.count ?? -1;
};

describe.each(['1.0', '0.3'])('a client of A2A %s', (version) => {
  it('reads the card of an assistant', async () => {
    const client = await connect('chat', version);
    const card = await client.getAgentCard();
    expect(card).toMatchObject({ name: 'chat', capabilities: { streaming: true, pushNotifications: false } });
    expect(card.skills).toHaveLength(1);
  });

  it('sends a message and gets the task with the answer', async () => {
    const client = await connect('chat', version);
    const task = await send(client, [text('hello')]);
    expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(contentOf(task)).toEqual([['echo hello']]);
    expect(task.history.map(({ role, parts }) => [role, parts[0]?.content?.value])).toEqual([
      [Role.ROLE_USER, 'hello'],
      [Role.ROLE_AGENT, 'echo hello'],
    ]);
    const again = await client.getTask({ tenant: '', id: task.id, historyLength: 1 });
    expect(again).toMatchObject({ id: task.id, contextId: task.contextId, status: task.status });
    expect(again.history).toHaveLength(1);
    const thread = await server.call('GET', `/threads/${task.contextId}/runs/${task.id}`);
    expect(thread.body).toMatchObject({ status: 'success' });
  });

  it('continues a context with another task', async () => {
    const client = await connect('chat', version);
    const first = await send(client, [text('one')]);
    const second = await send(client, [text('two')], { contextId: first.contextId });
    expect(second.contextId).toBe(first.contextId);
    expect(second.id).not.toBe(first.id);
    expect(second.history.map(({ parts }) => parts[0]?.content?.value)).toEqual(['two', 'echo two']);
    const state = await server.call('GET', `/threads/${first.contextId}/state`);
    expect((state.body as { values: { messages: unknown[] } }).values.messages).toHaveLength(4);
  });

  it('streams the answer of a task', async () => {
    const client = await connect('chat', version);
    const events = await collect(client.sendMessageStream(request([text('hello')])));
    const kinds = events.map((event) => event?.$case);
    expect(kinds.slice(0, 2)).toEqual(['task', 'statusUpdate']);
    expect(kinds.at(-1)).toBe('statusUpdate');
    const shown = [''];
    for (const event of events) {
      if (event?.$case !== 'artifactUpdate') continue;
      const chunk = String(event.value.artifact?.parts[0]?.content?.value);
      shown.push(event.value.append ? `${shown.at(-1)}${chunk}` : chunk);
    }
    // The answer grows with each chunk. The last artifact is the whole answer once more.
    const whole = 'echo hello';
    expect(shown).toEqual([...Array.from(whole, (_, at) => whole.slice(0, at)), whole, whole]);
    expect(events.at(-1)).toMatchObject({ value: { status: { state: TaskState.TASK_STATE_COMPLETED } } });
  });

  it('answers an interrupt with a message to the task', async () => {
    const client = await connect('approval', version);
    const asked = await send(client, [data({ log: ['begun'] })]);
    expect(asked.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    const details = asked.status?.message?.parts[1]?.content?.value as { interrupts: { id: string }[] };
    expect(details.interrupts).toMatchObject([{ value: { question: 'send?' } }]);
    const { id: taskId, contextId } = asked;
    const done = await send(client, [text('yes')], { taskId, contextId });
    expect(done).toMatchObject({ id: taskId, contextId, status: { state: TaskState.TASK_STATE_COMPLETED } });
    expect(contentOf(done)).toEqual([[{ log: ['begun', 'written', 'answered yes', 'sent'] }]]);
    expect((await client.getTask({ tenant: '', id: taskId })).status).toEqual(done.status);
  });

  it('answers several interrupts at once, in a stream', async () => {
    const client = await connect('questions', version);
    const asked = await send(client, [data({})]);
    const details = asked.status?.message?.parts[1]?.content?.value as
      | { interrupts: { id: string; value: string }[] }
      | undefined;
    const resume = details?.interrupts.map(({ id, value }) => ({ id, value: `to ${value}` }));
    const events = await collect(client.sendMessageStream(request([data({ resume })], { taskId: asked.id })));
    expect(events[0]).toMatchObject({ $case: 'task', value: { id: asked.id } });
    const artifact = events.find((event) => event?.$case === 'artifactUpdate');
    expect(artifact).toMatchObject({
      value: {
        artifact: {
          parts: [{ content: { value: { log: ['first to first?', 'second to second?', 'last'] } } }],
        },
      },
    });
  });

  it('gets the error of a failed run', async () => {
    const client = await connect('probe', version);
    const task = await send(client, [data({ do: 'throw' })]);
    expect(task.status?.state).toBe(TaskState.TASK_STATE_FAILED);
    expect(task.status?.message?.parts[0]?.content?.value).toContain('the graph failed on purpose');
  });

  it('cancels a task that it did not wait for, and others see it', async () => {
    const client = await connect('probe', version);
    const { id, contextId } = await send(client, [data({ do: 'hang' })], {}, true);
    await eventually(async () => {
      const { status } = await client.getTask({ tenant: '', id });
      expect(status?.state).toBe(TaskState.TASK_STATE_WORKING);
    });
    const followed = client.resubscribeTask({ tenant: '', id });
    expect((await followed.next()).value).toMatchObject({ payload: { $case: 'task', value: { id } } });
    const cancelled = await client.cancelTask({ tenant: '', id, metadata: undefined });
    expect(cancelled).toMatchObject({ contextId, status: { state: TaskState.TASK_STATE_CANCELED } });
    expect((await collect(followed)).at(-1)).toMatchObject({
      $case: 'statusUpdate',
      value: { status: { state: TaskState.TASK_STATE_CANCELED } },
    });
    await expect(client.cancelTask({ tenant: '', id, metadata: undefined })).rejects.toThrow(
      'cannot be cancelled',
    );
    await expect(collect(client.resubscribeTask({ tenant: '', id }))).rejects.toThrow('has ended');
  });

  it('starts a repeated message once', async () => {
    const client = await connect('chat', version);
    const before = await runs();
    const message = request([text('once')]);
    const tasks = await Promise.all([
      client.sendMessage(message),
      client.sendMessage(message),
      collect(client.sendMessageStream(message)),
    ]);
    const again = (await client.sendMessage(message)) as Task;
    expect(tasks.slice(0, 2)).toMatchObject([{ id: again.id }, { id: again.id }]);
    expect((tasks[2] as { value: unknown }[])[0]).toMatchObject({ value: { id: again.id } });
    expect(await runs()).toBe(before + 1);
  });

  it('gets errors of their classes', async () => {
    const client = await connect('chat', version);
    const id = crypto.randomUUID();
    await expect(client.getTask({ tenant: '', id })).rejects.toMatchObject({
      name: 'TaskNotFoundError',
    });
    const { id: taskId } = await send(client, [text('hello')]);
    await expect(send(client, [text('more')], { taskId })).rejects.toMatchObject({
      name: 'UnsupportedOperationError',
    });
  });
});

it('a client of A2A 1.0 lists the tasks of a context in pages', async () => {
  const client = await connect('approval', '1.0');
  const first = await send(client, [data({})]);
  const { contextId } = first;
  await send(client, [text('yes')], { taskId: first.id });
  const second = await send(client, [data({})], { contextId });
  const list = (fields: object = {}) =>
    client.listTasks({
      tenant: '',
      contextId,
      status: TaskState.TASK_STATE_UNSPECIFIED,
      pageToken: '',
      statusTimestampAfter: undefined,
      ...fields,
    });
  const all = await list();
  expect(all).toMatchObject({ totalSize: 2, nextPageToken: '' });
  expect(all.tasks.map(({ id }) => id)).toEqual([second.id, first.id]);
  expect(all.tasks.map(({ status }) => status?.state)).toEqual([
    TaskState.TASK_STATE_INPUT_REQUIRED,
    TaskState.TASK_STATE_COMPLETED,
  ]);
  const page = await list({ pageSize: 1 });
  expect(page.tasks.map(({ id }) => id)).toEqual([second.id]);
  const rest = await list({ pageSize: 1, pageToken: page.nextPageToken, includeArtifacts: true });
  expect(rest.tasks.map(({ id }) => id)).toEqual([first.id]);
  expect(rest.tasks[0]?.artifacts).toHaveLength(1);
  const waiting = await list({ status: TaskState.TASK_STATE_INPUT_REQUIRED });
  expect(waiting.tasks.map(({ id }) => id)).toEqual([second.id]);
});
