// Messages of the A2A protocol that the official client does not send.
import { type Message, Role, type StreamResponse, type Task, TaskState } from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from '@a2a-js/sdk/client';
import { describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { fixture } from '../fixture.ts';
import { startTestServer } from '../server.ts';
import { dataMessage, type RpcAnswer, rpcTo, textMessage, type WireTask } from './agent.ts';

const server = fixture(() => startTestServer({ settings: { bodyLimit: '1MB' } }));
const chat = rpcTo(server, 'chat');
const probe = rpcTo(server, 'probe');
const questions = rpcTo(server, 'questions');

const post = (body: unknown, headers: Record<string, string> = {}, agent = 'chat') =>
  server.call('POST', `/a2a/${agent}`, body, { accept: 'application/json', ...headers });

const request = (method: string, params?: unknown) => ({ jsonrpc: '2.0', id: 1, method, params });

const taskOf = ({ body }: RpcAnswer): WireTask => {
  expect(body.error).toBeUndefined();
  return body.result as unknown as WireTask;
};

const send = async (rpc: ReturnType<typeof rpcTo>, message: object, configuration?: object) =>
  taskOf(await rpc('message/send', { message, configuration }));

const runCount = async (): Promise<number> => {
  const counting = { name: 'a2a_runs', text: 'select count(*)::int as count from runs' };
  return (await server.database.query<{ count: number }>(counting, []))[0]?.count ?? -1;
};

describe('a body that is not a request', () => {
  it.each([
    ['a batch', [request('tasks/get'), request('tasks/get')]],
    ['an empty batch', []],
    ['no version', { id: 1, method: 'tasks/get' }],
    ['no id', { jsonrpc: '2.0', method: 'tasks/get' }],
    ['an id that is null', { ...request('tasks/get'), id: null }],
    ['params that are a list', request('tasks/get', [])],
  ])('is refused with 400: %s', async (_, body) => {
    expect(await post(body)).toMatchObject({ status: 400, body: { id: null, error: { code: -32_600 } } });
  });

  it('is refused when it is too large', async () => {
    const answer = await post(request('message/send', { text: 'x'.repeat(2_000_001) }));
    expect(answer).toMatchObject({ status: 413, body: { error: { code: -32_600 } } });
  });

  it('is refused with an Accept that excludes the response', async () => {
    const get = request('tasks/get', { id: 'x' });
    expect((await post(get, { accept: 'text/event-stream' })).status).toBe(400);
    const stream = request('message/stream', { message: textMessage('x') });
    expect((await post(stream, { accept: 'application/json' })).status).toBe(400);
  });
});

describe('an agent that does not exist', () => {
  it('gets 404 from the protocol and for its cards', async () => {
    expect(await post(request('tasks/get', { id: 'x' }), {}, 'nobody')).toMatchObject({
      status: 404,
      body: { error: { code: -32_600 } },
    });
    const card = '/.well-known/agent-card.json';
    expect((await server.call('GET', `${card}?assistant_id=nobody`)).status).toBe(404);
    expect((await server.call('GET', `/a2a/nobody${card}`)).status).toBe(404);
    expect((await server.call('GET', card)).status).toBe(422);
  });
});

describe('a request', () => {
  it.each([
    ['resources/list', 'Method not found'],
    ['constructor', 'Method not found'],
    ['tasks/pushNotificationConfig/set', 'Push notifications are not supported'],
    ['CreateTaskPushNotificationConfig', 'Push notifications are not supported'],
  ])('with the method %s gets -32601', async (method, message) => {
    const { status, body } = await chat(method);
    expect({ status, ...body }).toMatchObject({ status: 200, id: 1, error: { code: -32_601 } });
    expect(body.error?.message).toContain(message);
  });

  it.each([
    ['no message', {}],
    ['no parts', { message: textMessage('x', { parts: [] }) }],
    [
      'too many parts',
      { message: textMessage('x', { parts: Array(101).fill({ kind: 'text', text: 'x' }) }) },
    ],
    ['a part of an unknown kind', { message: textMessage('x', { parts: [{ kind: 'x' }] }) }],
    ['a file without content', { message: textMessage('x', { parts: [{ kind: 'file', file: {} }] }) }],
    [
      'bytes that are not base64',
      { message: textMessage('x', { parts: [{ kind: 'file', file: { bytes: '?' } }] }) },
    ],
    ['data that are a list', { message: dataMessage([]) }],
    ['a context that is no UUID', { message: textMessage('x', { contextId: 'one' }) }],
    ['the role of the agent', { message: textMessage('x', { role: 'agent' }) }],
    ['too long a history', { message: textMessage('x'), configuration: { historyLength: 11 } }],
  ])('that sends %s gets -32602 and starts nothing', async (_, params) => {
    const before = await runCount();
    const { status, body } = await chat('message/send', params);
    expect({ status, body }).toMatchObject({ status: 200, body: { id: 1, error: { code: -32_602 } } });
    expect(await runCount()).toBe(before);
  });

  it('of A2A 1.0 with a part of several contents gets -32602', async () => {
    const message = { role: 'ROLE_USER', messageId: 'x', parts: [{ text: 'x', data: {} }] };
    expect((await chat('SendMessage', { message })).body.error).toMatchObject({ code: -32_602 });
  });

  it.each([
    ['an unknown version', {}, { 'a2a-version': '2.0' }, -32_009],
    ['an unknown scope', {}, { 'svc-a2a-history-scope': 'all' }, -32_602],
    ['a webhook', { pushNotificationConfig: { url: 'https://example.com' } }, {}, -32_003],
    ['unknown output modes', { acceptedOutputModes: ['image/png'] }, {}, -32_005],
  ])('with %s gets its error', async (_, configuration, headers, code) => {
    const { body } = await chat(
      'message/send',
      { message: textMessage('x'), configuration },
      headers as never,
    );
    expect(body.error).toMatchObject({ code });
  });

  it('lists tasks only by context', async () => {
    expect((await chat('ListTasks', {})).body.error).toMatchObject({ code: -32_602 });
    const contextId = crypto.randomUUID();
    expect((await chat('ListTasks', { contextId })).body.result).toEqual({
      tasks: [],
      nextPageToken: '',
      pageSize: 50,
      totalSize: 0,
    });
  });
});

describe('a message', () => {
  it('without an id starts a task each time', async () => {
    const message = textMessage('hello', { messageId: undefined });
    expect((await send(chat, message)).id).not.toBe((await send(chat, message)).id);
  });

  it('with an id that another message of the context had is refused', async () => {
    const message = textMessage('one', { contextId: crypto.randomUUID() });
    await send(chat, message);
    const parts = [{ kind: 'text', text: 'two' }];
    const { body } = await chat('message/send', { message: { ...message, parts } });
    expect(body.error).toMatchObject({ code: -32_602, message: expect.stringContaining('messageId') });
  });

  it('has text only for a graph with messages', async () => {
    const { body } = await questions('message/send', { message: textMessage('hello') });
    expect(body.error).toMatchObject({ code: -32_602, message: expect.stringContaining('data part') });
  });

  it('gives the graph its text, files and data', async () => {
    const parts = [
      { kind: 'text', text: 'look' },
      { kind: 'file', file: { bytes: 'aGVsbG8=', mimeType: 'image/png', name: 'a.png' } },
      { kind: 'data', data: { messages: [{ type: 'human', content: 'before' }] } },
    ];
    const task = await send(chat, textMessage('', { parts }));
    const { body } = await server.call('GET', `/threads/${task.contextId}/runs/${task.id}`);
    const { kwargs } = body as { kwargs: { input: { messages: unknown[] } } };
    expect(kwargs.input.messages).toMatchObject([
      { content: 'before' },
      {
        type: 'human',
        content: [
          { type: 'text', text: 'look' },
          { type: 'image', source_type: 'base64', data: 'aGVsbG8=', mime_type: 'image/png' },
        ],
      },
    ]);
  });

  it('is queued while its context is busy', async () => {
    const busy = await send(probe, dataMessage({ do: 'hang' }), { blocking: false });
    const { contextId } = busy;
    const queued = await send(probe, dataMessage({ do: 'date' }, { contextId }), { blocking: false });
    expect(queued).toMatchObject({ contextId, status: { state: 'submitted' } });
    const toBusy = await probe('message/send', { message: dataMessage({}, { taskId: busy.id }) });
    expect(toBusy.body.error).toMatchObject({ code: -32_004 });
    taskOf(await probe('tasks/cancel', { id: queued.id }));
    expect(taskOf(await probe('tasks/cancel', { id: busy.id })).status.state).toBe('canceled');
  });
});

describe('a task', () => {
  it('has the messages of its context with the scope context', async () => {
    const first = await send(chat, textMessage('one'));
    const { id } = await send(chat, textMessage('two', { contextId: first.contextId }));
    const textsOf = (task: WireTask) => task.history.map(({ parts }) => parts[0]?.text);
    expect(textsOf(taskOf(await chat('tasks/get', { id })))).toEqual(['two', 'echo two']);
    const whole = ['one', 'echo one', 'two', 'echo two'];
    for (const name of ['svc-a2a-history-scope', 'langgraph-a2a-history-scope'])
      expect(textsOf(taskOf(await chat('tasks/get', { id }, { [name]: 'context' })))).toEqual(whole);
    expect(textsOf(taskOf(await chat('tasks/get', { id, historyScope: 'context' })))).toEqual(whole);
    expect(textsOf(taskOf(await chat('tasks/get', { id, historyLength: 0 })))).toEqual([]);
    expect(textsOf(taskOf(await chat('tasks/get', { id: `${first.contextId}:${id}` })))).toHaveLength(2);
    expect(textsOf(taskOf(await chat('tasks/get', { id: first.id })))).toEqual(['one', 'echo one']);
  });

  it('of another agent, context or kind does not exist', async () => {
    const { id, contextId } = await send(chat, textMessage('one'));
    const code = -32_001;
    for (const missing of ['x', contextId, `${crypto.randomUUID()}:${id}`, `${id}:${id}:${id}`])
      expect((await chat('tasks/get', { id: missing })).body.error).toMatchObject({ code });
    expect((await probe('tasks/get', { id })).body.error).toMatchObject({ code });
    expect((await chat('tasks/cancel', { id: crypto.randomUUID() })).body.error).toMatchObject({ code });
  });

  it('that waits is cancelled by a later message without it', async () => {
    const waiting = await send(questions, dataMessage({}));
    const { contextId } = waiting;
    await send(questions, dataMessage({}, { contextId }));
    expect(taskOf(await questions('tasks/get', { id: waiting.id })).status.state).toBe('canceled');
  });

  it.each([
    ['text for several interrupts', textMessage('x')],
    ['an unknown interrupt', dataMessage({ resume: [{ id: 'nobody', value: 1 }] })],
    ['no answer', dataMessage({ resume: [] })],
    ['answers that are no objects', dataMessage({ resume: ['x'] })],
    [
      'two parts',
      textMessage('x', {
        parts: [
          { kind: 'text', text: 'x' },
          { kind: 'data', data: {} },
        ],
      }),
    ],
    ['another context', textMessage('x', { contextId: crypto.randomUUID() })],
  ])('that waits refuses %s and goes on waiting', async (_, message) => {
    const { id } = await send(questions, dataMessage({}));
    const { body } = await questions('message/send', { message: { ...message, taskId: id } });
    expect(body.error).toMatchObject({ code: -32_602 });
    expect(taskOf(await questions('tasks/get', { id })).status.state).toBe('input-required');
  });

  it('is continued once by two different answers', async () => {
    const approval = rpcTo(server, 'approval');
    const { id, contextId } = await send(approval, dataMessage({}));
    const answers = await Promise.all(
      ['yes', 'no'].map((text) => approval('message/send', { message: textMessage(text, { taskId: id }) })),
    );
    expect(answers.map(({ body }) => body.error?.code).filter((code) => code === -32_004)).toHaveLength(1);
    const { body } = await server.call('GET', `/threads/${contextId}/state`);
    const { log } = (body as { values: { log: string[] } }).values;
    expect(log).toEqual(['written', expect.stringMatching(/^answered (yes|no)$/), 'sent']);
  });

  it('is continued once by a repeated answer', async () => {
    const approval = rpcTo(server, 'approval');
    const { id, contextId } = await send(approval, dataMessage({}));
    const answer = { message: textMessage('yes', { taskId: id }) };
    const first = taskOf(await approval('message/send', answer));
    expect(taskOf(await approval('message/send', answer))).toEqual(first);
    const { body } = await server.call('GET', `/threads/${contextId}/runs`);
    expect(body).toHaveLength(2);
  });

  it('outlives the client that waits for it', async () => {
    const abort = new AbortController();
    const message = dataMessage({ do: 'hang' });
    const gone = fetch(`${server.url}/a2a/probe`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(request('message/send', { message })),
      signal: abort.signal,
    });
    const failed = expect(gone.then((response) => response.text())).rejects.toThrow();
    const running = { name: 'a2a_running', text: `select run_id from runs where status = 'running'` };
    const ids = () => server.database.query<{ run_id: string }>(running, []);
    await eventually(async () => expect(await ids()).toHaveLength(1));
    abort.abort();
    await failed;
    const [{ run_id: id } = { run_id: '' }] = await ids();
    expect(taskOf(await probe('tasks/get', { id })).status.state).toBe('working');
    taskOf(await probe('tasks/cancel', { id }));
  });
});

describe('a card', () => {
  it('describes the assistant in the members of both versions', async () => {
    const { body } = await server.call('POST', '/assistants', {
      graph_id: 'chat',
      name: 'support',
      description: 'Answers questions.',
      metadata: { a2a: { input_modes: ['text/plain'], output_modes: ['text/plain'] } },
    });
    const { assistant_id } = body as { assistant_id: string };
    const { body: card } = await server.call('GET', `/a2a/${assistant_id}/.well-known/agent-card.json`);
    const url = `${server.url}/a2a/${assistant_id}`;
    expect(card).toMatchObject({
      name: 'support',
      description: 'Answers questions.',
      url,
      protocolVersion: '0.3.0',
      preferredTransport: 'JSONRPC',
      supportedInterfaces: [
        { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
      ],
      defaultInputModes: ['text/plain'],
    });
    const byQuery = await server.call('GET', `/.well-known/agent-card.json?assistant_id=${assistant_id}`);
    expect(byQuery.body).toEqual(card);
    expect((await rpcTo(server, assistant_id)('GetExtendedAgentCard')).body.result).toEqual(card);
  });
});

// The official client of the A2A protocol, against the server, with both versions of the protocol.

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

const newRequest = (parts: Message['parts'], of: Partial<Message> = {}, returnImmediately = false) => ({
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

const sendWith = async (client: Client, ...message: Parameters<typeof newRequest>): Promise<Task> =>
  (await client.sendMessage(newRequest(...message))) as Task;

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
    const task = await sendWith(client, [text('hello')]);
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
    const first = await sendWith(client, [text('one')]);
    const second = await sendWith(client, [text('two')], { contextId: first.contextId });
    expect(second.contextId).toBe(first.contextId);
    expect(second.id).not.toBe(first.id);
    expect(second.history.map(({ parts }) => parts[0]?.content?.value)).toEqual(['two', 'echo two']);
    const state = await server.call('GET', `/threads/${first.contextId}/state`);
    expect((state.body as { values: { messages: unknown[] } }).values.messages).toHaveLength(4);
  });

  it('streams the answer of a task', async () => {
    const client = await connect('chat', version);
    const events = await collect(client.sendMessageStream(newRequest([text('hello')])));
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
    const asked = await sendWith(client, [data({ log: ['begun'] })]);
    expect(asked.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    const details = asked.status?.message?.parts[1]?.content?.value as { interrupts: { id: string }[] };
    expect(details.interrupts).toMatchObject([{ value: { question: 'send?' } }]);
    const { id: taskId, contextId } = asked;
    const done = await sendWith(client, [text('yes')], { taskId, contextId });
    expect(done).toMatchObject({ id: taskId, contextId, status: { state: TaskState.TASK_STATE_COMPLETED } });
    expect(contentOf(done)).toEqual([[{ log: ['begun', 'written', 'answered yes', 'sent'] }]]);
    expect((await client.getTask({ tenant: '', id: taskId })).status).toEqual(done.status);
  });

  it('answers several interrupts at once, in a stream', async () => {
    const client = await connect('questions', version);
    const asked = await sendWith(client, [data({})]);
    const details = asked.status?.message?.parts[1]?.content?.value as
      | { interrupts: { id: string; value: string }[] }
      | undefined;
    const resume = details?.interrupts.map(({ id, value }) => ({ id, value: `to ${value}` }));
    const events = await collect(
      client.sendMessageStream(newRequest([data({ resume })], { taskId: asked.id })),
    );
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
    const task = await sendWith(client, [data({ do: 'throw' })]);
    expect(task.status?.state).toBe(TaskState.TASK_STATE_FAILED);
    expect(task.status?.message?.parts[0]?.content?.value).toContain('the graph failed on purpose');
  });

  it('cancels a task that it did not wait for, and others see it', async () => {
    const client = await connect('probe', version);
    const { id, contextId } = await sendWith(client, [data({ do: 'hang' })], {}, true);
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
    const message = newRequest([text('once')]);
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
    const { id: taskId } = await sendWith(client, [text('hello')]);
    await expect(sendWith(client, [text('more')], { taskId })).rejects.toMatchObject({
      name: 'UnsupportedOperationError',
    });
  });
});

it('a client of A2A 1.0 lists the tasks of a context in pages', async () => {
  const client = await connect('approval', '1.0');
  const first = await sendWith(client, [data({})]);
  const { contextId } = first;
  await sendWith(client, [text('yes')], { taskId: first.id });
  const second = await sendWith(client, [data({})], { contextId });
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
