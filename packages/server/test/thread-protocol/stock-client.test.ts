// The stock client's thread streams (protocol v2 over SSE and over a WebSocket) without changes.
import { randomUUID } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@langchain/langgraph-sdk';
import { StreamController, toolCallsProjection } from '@langchain/langgraph-sdk/stream';
import { describe, expect, it } from 'vitest';
import { WebSocket as NodeSocket } from 'ws';
import { chatInput } from '../chat-input.ts';
import { collect } from '../collect.ts';
import { eventually } from '../eventually.ts';
import { fixture } from '../fixture.ts';
import { startTestServer } from '../server.ts';
import { isRunEnd, readFeed } from './feed.ts';

const server = fixture(() => startTestServer());
const client = fixture(() => new Client({ apiUrl: server.url }));

/** Node 20 has no WebSocket of its own. */
const webSocketFactory = (url: string): WebSocket => new NodeSocket(url) as unknown as WebSocket;

describe.each(['sse', 'websocket'] as const)('over %s, the client', (transport) => {
  const open = (assistantId: string, thread_id: string = randomUUID()) =>
    client.threads.stream(thread_id, { assistantId, transport, webSocketFactory });

  it('streams a chat: text token by token, then the state', async () => {
    const thread = open('chat');
    const { messages } = thread;
    const { run_id } = await thread.run.start({ input: chatInput('hello') });
    expect(run_id).toMatch(/^[0-9a-f-]{36}$/);
    const texts: string[][] = [];
    for await (const message of messages) texts.push(await collect(message.text));
    expect(texts.map((parts) => parts.join(''))).toEqual(['echo hello']);
    expect(texts[0]?.length).toBeGreaterThan(1);
    const values = (await thread.output) as { messages: { content: unknown }[] };
    expect(values.messages.map(({ content }) => content)).toEqual(['hello', 'echo hello']);
    await thread.close();
  });

  it('streams a tool call, a subgraph and a custom event, and resumes at the answer of an interrupt', async () => {
    const thread = open('toolbox');
    const calls = collect(thread.toolCalls);
    const custom = await thread.subscribe('custom:progress');
    await thread.run.start({ input: chatInput('go') });
    await eventually(() => expect(thread.interrupted).toBe(true));
    expect(thread.interrupts).toMatchObject([{ payload: { question: 'send?' }, namespace: [] }]);
    const [call] = await calls;
    expect(call).toMatchObject({ name: 'weather', callId: 'call_1', args: { city: 'Oslo' } });
    expect(await call?.output).toBe('snow in Oslo');
    for await (const payload of custom) expect(payload).toEqual({ done: 1 });

    const { tree } = await thread.agent.getTree();
    expect(tree).toMatchObject({ namespace: [], status: 'interrupted', graph_name: 'toolbox' });
    const interrupt_id = thread.interrupts[0]?.interruptId ?? '';
    await thread.input.respond({ namespace: [], interrupt_id, response: { ok: true } });
    const events = await readFeed(
      server.url,
      thread.threadId,
      ({ params }) => params.data['event'] === 'completed' && params.namespace.length === 0,
    );
    expect(events.filter(isRunEnd).map(({ params }) => params.data['event'])).toEqual(['completed']);
    const { values } = await thread.state.get({ namespace: [] });
    expect((values as { messages: { content: string }[] })['messages'].at(-1)?.content).toBe('sent');
    await thread.close();
  });

  it('reads what stream transformers derive: items of a channel, and final values', async () => {
    const thread = open('derived');
    const { nodes, summary } = thread.extensions as Record<
      string,
      AsyncIterable<unknown> & PromiseLike<unknown>
    >;
    await thread.run.start({ input: chatInput('hello') });
    expect(await summary).toEqual({ text: 'echo hello' });
    expect(await collect(nodes!)).toEqual([{ node: 'answer' }, { node: 'check' }]);
    await thread.close();
  });

  it('reads no final values of a run that fails', async () => {
    const thread = open('derived');
    const { summary } = thread.extensions as Record<string, PromiseLike<unknown>>;
    await thread.run.start({ input: chatInput('fail') });
    expect(await summary).toBeUndefined();
    await thread.close();
  });

  it('answers several interrupts with one command', async () => {
    const thread = open('questions');
    await thread.run.start({ input: { log: [] } });
    await eventually(() => expect(thread.interrupts).toHaveLength(2));
    await eventually(() => expect(thread.interrupted).toBe(true));
    const responses = thread.interrupts.map(({ interruptId, namespace, payload }) => ({
      namespace,
      interrupt_id: interruptId,
      response: `answer to ${String(payload)}`,
    }));
    await thread.input.respond({ responses });
    const log = ['first answer to first?', 'second answer to second?', 'last'];
    await eventually(async () => {
      const { values } = await thread.state.get({ namespace: [] });
      expect(values).toEqual({ log });
    });
    expect(await client.runs.list(thread.threadId)).toHaveLength(2);
    await thread.close();
  });

  it('gives a client that is opened again the conversation so far', async () => {
    const first = open('chat');
    await first.run.start({ input: chatInput('one') });
    await first.output;
    const again = open('chat', first.threadId);
    // The client ends its iterations at the end of a run.
    const messages = await collect(again.messages);
    expect(await Promise.all(messages.map(({ text }) => text))).toEqual(['echo one']);
    await first.close();
    await again.close();
  });

  it('that is opened on a thread with an ended run answers with the run that it starts', async () => {
    const first = open('probe');
    await first.run.start({ input: { do: 'sleep', ms: 1 } });
    expect(await first.output).toMatchObject({ out: 'slept' });
    await first.close();
    const again = open('probe', first.threadId);
    const { output, values } = again;
    const running: unknown[] = [];
    again.onEvent(({ method, params, event_id }) => {
      const isBegun = method === 'lifecycle' && params.namespace.length === 0;
      if (isBegun && (params.data as { event: string }).event === 'running') running.push(event_id);
    });
    const file = join(await mkdtemp(join(tmpdir(), 'svc-')), 'go');
    const { run_id } = await again.run.start({ input: { do: 'writeWhen', out: file } });
    // All events of the first run come before.
    await eventually(() => expect(running).toHaveLength(2));
    expect(running.at(-1)).toBe(`synth:${run_id}:begin`);
    const states = collect(values);
    await writeFile(file, '');
    expect(await output).toMatchObject({ out: 'wrote' });
    expect((await states).at(-1)).toMatchObject({ out: 'wrote' });
    await again.close();
  });

  it('that loses its connection while a run streams gets the rest over a new one', async () => {
    const stops: (() => void)[] = [];
    let opened = 0;
    const thread = client.threads.stream(randomUUID(), {
      assistantId: 'probe',
      transport,
      reconnectDelayMs: () => 0,
      onConnected: () => void opened++,
      webSocketFactory: (url) => {
        const socket = new NodeSocket(url);
        stops.push(() => socket.terminate());
        return socket as unknown as WebSocket;
      },
      fetch: async (url, init) => {
        const cut = new AbortController();
        const isFeed = String(url).endsWith('/stream/events');
        if (isFeed) stops.push(() => cut.abort(new TypeError('the connection was lost')));
        const signal = AbortSignal.any([cut.signal, ...(init?.signal ? [init.signal] : [])]);
        return fetch(url, { ...init, signal });
      },
    });
    const custom = await thread.subscribe('custom');
    await thread.run.start({ input: { do: 'tick', ms: 200 } });
    const payloads: unknown[] = [];
    for await (const { params } of custom) {
      payloads.push((params.data as { payload: { at: number } }).payload.at);
      if (payloads.length === 20) for (const stop of stops.splice(0)) stop();
    }
    expect(payloads).toEqual(Array.from({ length: 200 }, (_, at) => at));
    expect(await thread.output).toMatchObject({ do: 'tick' });
    if (transport === 'websocket') expect(opened).toBe(2);
    await thread.close();
  });
});

it('a client that reconnects when its run has ended and another has begun gets the events of both, each once', async () => {
  const thread_id = randomUUID();
  let cut = (): void => undefined;
  let returned = Promise.resolve();
  /** Ends the first run while the client is away, and starts another one. */
  const whileAway = async (): Promise<void> => {
    await eventually(async () =>
      expect(await client.runs.list(thread_id)).toMatchObject([{ status: 'success' }]),
    );
    await client.runs.wait(thread_id, 'probe', { input: { do: 'sleep', ms: 1 } });
  };
  const thread = client.threads.stream(thread_id, {
    assistantId: 'probe',
    transport: 'sse',
    reconnectDelayMs: () => 0,
    onReconnect: () => void (returned = whileAway()),
    fetch: async (url, init) => {
      if (!String(url).endsWith('/stream/events')) return fetch(url, init);
      await returned;
      const lost = new AbortController();
      cut = () => lost.abort(new TypeError('the connection was lost'));
      return fetch(url, { ...init, signal: lost.signal });
    },
  });
  const ends: unknown[] = [];
  thread.onEvent(({ event_id }) => {
    if (event_id?.endsWith(':end') === true) ends.push(event_id);
  });
  const custom = await thread.subscribe('custom');
  await thread.run.start({ input: { do: 'tick', ms: 100 } });
  const ticks: unknown[] = [];
  for await (const { params } of custom) {
    ticks.push((params.data as { payload: { at: number } }).payload.at);
    if (ticks.length === 20) cut();
  }
  expect(ticks).toEqual(Array.from({ length: 100 }, (_, at) => at));
  // The end of the first run is not replayed, so the client waits for that of the second one.
  const { run_id } = (await client.runs.list(thread_id))[0] ?? {};
  expect(await thread.output).toMatchObject({ out: 'slept' });
  expect(ends).toEqual([`synth:${run_id}:end`]);
  await thread.close();
});

// The state of a page of the stock hook `useStream` (its StreamController), without a browser.

describe.each(['sse', 'websocket'] as const)('over %s, a page', (transport) => {
  const open = (assistantId: string, threadId: string) =>
    new StreamController({ assistantId, client, threadId, transport, webSocketFactory });

  it('does not show an answered interrupt again after it was loaded again and has sent a message', async () => {
    const thread_id = randomUUID();
    const page = open('asking', thread_id);
    await page.hydrationPromise;
    await page.submit({ question: '"send?"' });
    const asked = [{ value: 'send?' }];
    await eventually(() => expect(page.rootStore.getSnapshot().interrupts).toMatchObject(asked));
    await page.respond('yes');
    await eventually(() => expect(page.rootStore.getSnapshot().values).toMatchObject({ out: 'yes' }));
    await page.dispose();

    const again = open('asking', thread_id);
    await again.hydrationPromise;
    const shown: unknown[] = [];
    again.rootStore.subscribe(() => shown.push(...again.rootStore.getSnapshot().interrupts));
    await again.submit({ question: '' });
    // The end of the run arrives on a stream of its own.
    await eventually(() => expect(again.rootStore.getSnapshot().values).toMatchObject({ out: 'not asked' }));
    expect(shown).toEqual([]);
    // An interrupt of the new page is shown.
    await again.submit({ question: '"again?"' });
    const askedAgain = [{ value: 'again?' }];
    await eventually(() => expect(again.rootStore.getSnapshot().interrupts).toMatchObject(askedAgain));
    await again.dispose();
  });

  it('shows the tool calls of a subagent, for which a component mounts during a short run', async () => {
    const page = open('delegating', randomUUID());
    await page.hydrationPromise;
    const shown: ReturnType<typeof useToolCalls>[] = [];
    // As the hook `useToolCalls(stream, subagent)`, which follows the namespace of the subagent.
    const useToolCalls = (namespace: readonly string[]) =>
      page.registry.acquire(toolCallsProjection(namespace));
    page.subagentStore.subscribe(() => {
      for (const { namespace } of page.subagentStore.getSnapshot().values()) {
        shown.at(-1)?.release();
        shown.push(useToolCalls(namespace));
      }
    });
    await page.submit(chatInput('go'));
    await eventually(() => {
      const calls = shown.at(-1)?.store.getSnapshot();
      expect(calls).toMatchObject([{ name: 'weather', status: 'finished', output: 'snow in Oslo' }]);
    });
    await page.dispose();
  });
});
