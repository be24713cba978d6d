// The WebSocket of thread protocol v2: the same commands, events, rights and limits as over HTTP.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatInput } from '../chat-input.ts';
import { projectWith } from '../edge/wire.ts';
import { eventually } from '../eventually.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { allChannels, isRunEnd, readFeed } from './feed.ts';
import { openSocket, refusal } from './socket.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ settings: { streamsPerCaller: '1000' } });
});
afterAll(() => server[Symbol.asyncDispose]());

const chat = { assistant_id: 'chat', input: chatInput('hello') };
describe('a socket', () => {
  it('has the events that a feed over HTTP has', async () => {
    const thread_id = randomUUID();
    const socket = await openSocket(server.url, thread_id);
    const started = await socket.command('run.start', chat);
    expect(started).toMatchObject({ type: 'success', meta: { thread_id, applied_through_seq: 0 } });
    const subscribed = await socket.command('subscription.subscribe', { channels: allChannels });
    const subscription_id: unknown = expect.stringMatching(/^[0-9a-f-]{36}$/);
    expect(subscribed.result).toEqual({ subscription_id, replayed_events: 0 });
    const events = await socket.until(isRunEnd);
    expect(events).toEqual(await readFeed(server.url, thread_id, isRunEnd));
    socket.ws.close();
  });

  it('sends a subscription that is added while a run streams all of its events, in order', async () => {
    const thread_id = randomUUID();
    const socket = await openSocket(server.url, thread_id);
    await socket.command('run.start', { assistant_id: 'probe', input: { do: 'tick', ms: 100 } });
    await socket.command('subscription.subscribe', { channels: ['lifecycle'] });
    await socket.until(({ params }) => params.namespace.length > 0);
    await socket.command('subscription.subscribe', { channels: ['custom'] });
    await socket.until(({ method }) => method === 'custom');
    const channels = ['values', 'custom', 'lifecycle'];
    await socket.command('subscription.subscribe', { channels });
    const events = await socket.until(isRunEnd);
    const all = await readFeed(server.url, thread_id, isRunEnd, { channels });
    // From where the last subscription begins, each event is sent once.
    const begin = events.findLastIndex(({ event_id }) => event_id === all[0]?.event_id);
    expect(events.slice(begin)).toEqual(all);
    const known = new Set(all.map(({ event_id }) => event_id));
    expect(events.every(({ event_id }) => known.has(event_id))).toBe(true);
    socket.ws.close();
  });

  it('filters like a feed, and ends a subscription', async () => {
    const thread_id = randomUUID();
    const socket = await openSocket(server.url, thread_id);
    const first = await socket.command('subscription.subscribe', { channels: ['lifecycle'], depth: 0 });
    await socket.command('run.start', chat);
    const events = await socket.until(isRunEnd);
    expect(events.map(({ params }) => params.data['event'])).toEqual(['running', 'completed']);
    const last = events.at(-1)?.seq ?? 0;
    const { subscription_id } = first.result;
    expect(await socket.command('subscription.unsubscribe', { subscription_id })).toMatchObject({
      result: {},
    });
    expect(await socket.command('subscription.unsubscribe', { subscription_id })).toMatchObject({
      error: 'no_such_subscription',
    });
    await socket.command('subscription.subscribe', { channels: ['lifecycle', 'values'], since: last });
    await socket.command('run.start', chat);
    const later = await socket.until((event) => isRunEnd(event) && event.seq > last);
    expect(later.slice(2).every(({ seq }) => seq > last)).toBe(true);
    expect(later.slice(2).some(({ method }) => method === 'values')).toBe(true);
    socket.ws.close();
  });

  it('starts the runs of its commands in their order', async () => {
    const thread_id = randomUUID();
    const socket = await openSocket(server.url, thread_id);
    const started = await Promise.all(
      Array.from({ length: 12 }, () =>
        socket.command('run.start', { assistant_id: 'probe', input: { action: 'user' } }),
      ),
    );
    const runs = (await server.call('GET', `/threads/${thread_id}/runs?limit=100`)).body as {
      run_id: string;
    }[];
    expect(runs.map(({ run_id }) => run_id).toReversed()).toEqual(
      started.map(({ result }) => result['run_id']),
    );
    socket.ws.close();
  });

  it('of two that answer one interrupt, one starts a run', async () => {
    const thread_id = randomUUID();
    const sockets = await Promise.all([1, 2].map(() => openSocket(server.url, thread_id)));
    const [first] = sockets;
    await first?.command('subscription.subscribe', { channels: ['input', 'lifecycle'] });
    await first?.command('run.start', { assistant_id: 'approval', input: {} });
    const events = (await first?.until(isRunEnd)) ?? [];
    const requested = events.find(({ method }) => method === 'input.requested');
    const interrupt_id = requested?.params.data['interrupt_id'];
    const answers = await Promise.all(
      sockets.map((socket, at) => socket.command('input.respond', { interrupt_id, response: `by ${at}` })),
    );
    expect(answers.map(({ type }) => type).toSorted()).toEqual(['error', 'success']);
    expect(answers.find(({ type }) => type === 'error')).toMatchObject({ error: 'no_such_interrupt' });
    const runs = (await server.call('GET', `/threads/${thread_id}/runs`)).body as unknown[];
    expect(runs).toHaveLength(2);
    for (const { ws } of sockets) ws.close();
  });

  it('is asked to connect again when the server stops', async () => {
    await using stopping = await startTestServer({ executors: 'none' });
    const socket = await openSocket(stopping.url, randomUUID());
    await socket.command('subscription.subscribe', { channels: ['values'] });
    await stopping[Symbol.asyncDispose]();
    expect(await socket.closed).toEqual({ code: 1012, reason: 'The server restarts.' });
  });

  it('ends with 4404 when its thread is deleted', async () => {
    const thread_id = randomUUID();
    const socket = await openSocket(server.url, thread_id);
    await socket.command('run.start', chat);
    await socket.command('subscription.subscribe', { channels: ['lifecycle'] });
    await socket.until(isRunEnd);
    await server.call('DELETE', `/threads/${thread_id}`);
    expect(await socket.closed).toMatchObject({ code: 4404 });
  });
});

describe('an upgrade', () => {
  it('is needed for a GET of the path', async () => {
    const answer = await server.call('GET', `/threads/${randomUUID()}/stream/events`);
    expect(answer).toMatchObject({ status: 426, body: { code: 'bad_request' } });
    expect(answer.headers.get('upgrade')).toBe('websocket');
  });

  it('is refused with a response where the API is disabled, and at other paths', async () => {
    for (const key of ['disable_threads', 'disable_runs']) {
      await using project = await projectWith({ http: { [key]: true } });
      await using disabled = await startTestServer({ project: project.file, executors: 'none' });
      expect(await refusal(openSocket(disabled.url, randomUUID()))).toMatchObject({ status: 404 });
    }
    expect(await refusal(openSocket(`${server.url}/nowhere`, randomUUID()))).toMatchObject({ status: 404 });
    expect(await refusal(openSocket(server.url, 'no-id'))).toMatchObject({ status: 422 });
  });

  it('has the prefix of all routes', async () => {
    await using project = await projectWith({ http: { mount_prefix: '/agents' } });
    await using mounted = await startTestServer({ project: project.file, executors: 'none' });
    const socket = await openSocket(mounted.url, randomUUID());
    expect(await socket.command('state.get')).toMatchObject({ error: 'invalid_argument' });
    socket.ws.close();
    const outside = mounted.url.replace('/agents', '');
    expect(await refusal(openSocket(outside, randomUUID()))).toMatchObject({ status: 404 });
  });

  it('counts as a stream of its caller', async () => {
    await using limited = await startTestServer({ settings: { streamsMax: 2 }, executors: 'none' });
    const open = () => openSocket(limited.url, randomUUID());
    const [first, second] = [await open(), await open()];
    expect(await refusal(open())).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    first.ws.close();
    await first.closed;
    const third = await eventually(open);
    for (const { ws } of [second, third]) ws.close();
  });
});
