// Strings with half of a surrogate pair, as of an emoji that a browser has cut, and with NUL: values for graphs keep them exactly.
import { randomUUID } from 'node:crypto';
import { Client } from '@langchain/langgraph-sdk';
import { describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { openSocket } from '../thread-protocol/socket.ts';
import { isRunEnd } from '../thread-protocol/feed.ts';
import { openSink } from '../webhooks/sink.ts';
import { startTestServer } from '../server.ts';
import { fixture } from '../fixture.ts';

const cut = 'cut \ud83d, low \ude00, NUL \0, escaped \\u0000 and \u{10ffff}';
/** A large body is parsed in a parser thread. */
const long = cut + ' long'.repeat(60_000);

const server = fixture(() => startTestServer({ settings: { egressAllow: '127.0.0.1' } }));
const client = fixture(() => new Client({ apiUrl: server.url }));

interface Messages {
  messages: { content: string }[];
}

const inputOf = (...contents: string[]) => ({
  messages: contents.map((content) => ({ role: 'user', content })),
});
const contentsOf = (values: unknown): string[] => (values as Messages).messages.map(({ content }) => content);

describe.each([
  ['a small body', [cut]],
  ['a large body', [long, cut]],
])('a string with half of a surrogate pair or NUL in %s', (_, sent) => {
  it('is in the state, the history, the events and the request of a run as it was sent', async () => {
    const { thread_id } = await client.threads.create();
    const payload = {
      input: inputOf(...sent),
      streamMode: ['values', 'updates'] as ('values' | 'updates')[],
    };
    const data: unknown[] = [];
    let run_id = '';
    const stream = client.runs.stream(thread_id, 'chat', {
      ...payload,
      onRunCreated: (run) => void (run_id = run.run_id ?? ''),
    });
    for await (const event of stream) data.push(event.data);
    const all = [...sent, `echo ${cut}`];
    expect(contentsOf(data.at(-1))).toEqual(all);
    const state = await client.threads.getState(thread_id);
    expect(contentsOf(state.values)).toEqual(all);
    const history = await client.threads.getHistory(thread_id);
    expect(contentsOf(history[0]?.values)).toEqual(all);
    expect(contentsOf((await client.threads.get(thread_id)).values)).toEqual(all);
    const { body } = await server.call('GET', `/threads/${thread_id}/runs/${run_id}`);
    expect((body as { kwargs: { input: unknown } }).kwargs.input).toEqual(payload.input);
    // A second run reads the state from the database, and joins show the log of the run.
    const next = await client.runs.wait(thread_id, 'chat', { input: inputOf('next') });
    expect(contentsOf(next)).toEqual([...all, 'next', 'echo next']);
    expect(contentsOf(await client.runs.join(thread_id, run_id))).toEqual(expect.arrayContaining(all));
  });

  it('may be in a stateless run, a batch, a state update and supersteps', async () => {
    expect(contentsOf(await client.runs.wait(null, 'chat', { input: inputOf(...sent) }))).toContain(
      `echo ${cut}`,
    );
    const [run] = await client.runs.createBatch([{ assistantId: 'chat', input: inputOf(...sent) }]);
    expect(run).toMatchObject({ kwargs: { input: inputOf(...sent) } });
    const { thread_id } = await client.threads.create({ graphId: 'chat' });
    await client.threads.updateState(thread_id, { values: inputOf(...sent), asNode: 'answer' });
    expect(contentsOf((await client.threads.getState(thread_id)).values)).toEqual(sent);
    const built = await client.threads.create({
      graphId: 'chat',
      supersteps: [{ updates: [{ values: inputOf(...sent), asNode: 'answer' }] }],
    });
    expect(contentsOf((await client.threads.getState(built.thread_id)).values)).toEqual(sent);
    const copy = await client.threads.copy(built.thread_id);
    expect(contentsOf((await client.threads.getState(copy.thread_id)).values)).toEqual(sent);
  });

  it('may be the answer of an interrupt', async () => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, 'approval', { input: {} });
    const text = sent.join();
    const values = await client.runs.wait(thread_id, 'approval', { command: { resume: text } });
    expect(values).toMatchObject({ log: ['written', `answered ${text}`, 'sent'] });
  });

  it('may be in commands of the thread protocol', async () => {
    const thread_id = randomUUID();
    const socket = await openSocket(server.url, thread_id);
    await socket.command('subscription.subscribe', { channels: ['lifecycle'] });
    expect(
      await socket.command('run.start', { assistant_id: 'chat', input: inputOf(...sent) }),
    ).toMatchObject({
      type: 'success',
    });
    await socket.until(isRunEnd);
    const state = await client.threads.getState(thread_id);
    expect(contentsOf(state.values)).toEqual([...sent, `echo ${cut}`]);
    socket.ws.close();
  });

  it('may be in the arguments of an MCP tool, and in a message of A2A', async () => {
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call' };
    const accept = { accept: 'application/json, text/event-stream' };
    const tool = { ...call, params: { name: 'chat', arguments: inputOf(...sent) } };
    expect(JSON.stringify(await server.call('POST', '/mcp', tool, accept))).toContain('echo cut');
    const parts = [{ kind: 'text', text: sent.at(-1) }];
    const message = { kind: 'message', role: 'user', messageId: randomUUID(), parts };
    const task = { ...call, method: 'message/send', params: { message } };
    const answered = await server.call('POST', '/a2a/chat', task, accept);
    expect(JSON.stringify(answered.body)).toContain(JSON.stringify(`echo ${cut}`));
  });

  it('is in the webhook of a run', async () => {
    await using sink = await openSink();
    await client.runs.wait(null, 'chat', { input: inputOf(...sent), webhook: sink.url });
    await eventually(() => expect(sink.received).toHaveLength(1));
    expect(sink.received[0]?.body).toMatchObject({ kwargs: { input: inputOf(...sent) } });
    expect(contentsOf(sink.received[0]?.body['values'])).toEqual([...sent, `echo ${cut}`]);
  });

  it('may be a key in the state', async () => {
    const { thread_id } = await client.threads.create({ graphId: 'chat' });
    const additional_kwargs = { [cut]: { deep: [...sent] } };
    const values = { messages: [{ role: 'user', content: '', additional_kwargs }] };
    await client.threads.updateState(thread_id, { values, asNode: 'answer' });
    expect((await client.threads.getState(thread_id)).values).toMatchObject({
      messages: [{ additional_kwargs }],
    });
  });

  it('may be in the input of a cron', async () => {
    const cron = await client.crons.create('chat', { schedule: '0 0 1 1 *', input: inputOf(...sent) });
    const { body } = await server.call('GET', `/runs/crons/${(cron as { cron_id: string }).cron_id}`);
    expect(body).toMatchObject({ payload: { input: inputOf(...sent) } });
  });
});

describe('a string with half of a surrogate pair or NUL in another member', () => {
  it.each([
    ['/runs/wait', { assistant_id: 'chat', input: {}, metadata: { title: cut } }, 'body.metadata.title'],
    ['/threads', { metadata: { title: cut } }, 'body.metadata.title'],
    ['/assistants', { graph_id: 'chat', name: cut }, 'body.name'],
    ['/store/items', { namespace: ['a'], key: 'k', value: { text: cut } }, 'body.value.text'],
    ['/runs/crons', { assistant_id: 'chat', schedule: '0 0 1 1 *', metadata: { a: cut } }, 'body.metadata.a'],
  ])('is refused by %s with an error that names the member', async (path, body, member) => {
    const refused = await server.call(path === '/store/items' ? 'PUT' : 'POST', path, body);
    expect(refused).toMatchObject({ status: 422, body: { code: 'invalid' } });
    expect(JSON.stringify(refused.body)).toContain(`${member} contains`);
  });
});
