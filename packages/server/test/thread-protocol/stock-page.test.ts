// The state of a page of the stock hook `useStream` (its StreamController), without a browser.
import { randomUUID } from 'node:crypto';
import { Client } from '@langchain/langgraph-sdk';
import { StreamController, toolCallsProjection } from '@langchain/langgraph-sdk/stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket as NodeSocket } from 'ws';
import { chatInput } from '../chat-input.ts';
import { eventually } from '../eventually.ts';
import { startTestServer, type TestServer } from '../server.ts';

let server: TestServer;
let client: Client;
beforeAll(async () => {
  server = await startTestServer();
  client = new Client({ apiUrl: server.url });
});
afterAll(() => server[Symbol.asyncDispose]());

/** Node 20 has no WebSocket of its own. */
const webSocketFactory = (url: string): WebSocket => new NodeSocket(url) as unknown as WebSocket;

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
