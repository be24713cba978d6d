// Python graphs on a server, driven by the stock JavaScript client.
import { Client } from '@langchain/langgraph-sdk';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { fixture } from '../fixture.ts';
import { itWithPythonClients as it } from '../python-clients/python.ts';
import { startTestServer } from '../server.ts';

const project = fileURLToPath(new URL('graphs/svc.json', import.meta.url));

const server = fixture(() => startTestServer({ project, executors: 'ready' }));
const client = () => new Client({ apiUrl: server.url, timeoutMs: 20_000 });

it('a graph is executed, and its state is read', async () => {
  const { thread_id } = await client().threads.create();
  const result = await client().runs.wait(thread_id, 'echo', {
    input: { messages: [{ role: 'user', content: 'hi' }] },
  });
  expect(result).toMatchObject({ messages: [{ type: 'human', content: 'hi' }, { type: 'ai', content: 'echo: hi' }] });
});
