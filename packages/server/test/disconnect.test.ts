// Runs whose client disconnects, and projects with a langgraph.json.
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient, type Client } from '@svc/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from './eventually.ts';
import { startTestServer, type TestServer } from './server.ts';

let server: TestServer;
let client: Client;
beforeAll(async () => {
  server = await startTestServer();
  client = createClient({ apiUrl: server.url });
});
afterAll(() => server[Symbol.asyncDispose]());

/** Starts a run, and disconnects once its stream has begun. */
const disconnect = async (
  on_disconnect: 'cancel' | 'continue',
  input: object,
): Promise<{ threadId: string; runId: string }> => {
  const { thread_id } = await client.threads.create();
  let runId = '';
  const options = { onRunCreated: (run: { runId: string }) => (runId = run.runId) };
  for await (const _ of client.runs.stream(thread_id, 'probe', { input, on_disconnect }, options)) break;
  return { threadId: thread_id, runId };
};

describe('a client that disconnects', () => {
  it('cancels its run with on_disconnect cancel', async () => {
    const { threadId, runId } = await disconnect('cancel', { do: 'waitForAbort' });
    await eventually(async () =>
      expect(await client.runs.get(threadId, runId)).toMatchObject({ status: 'interrupted' }),
    );
  });

  it('leaves its run running otherwise', async () => {
    const { threadId, runId } = await disconnect('continue', { do: 'sleep', ms: 400 });
    expect(await client.runs.join(threadId, runId)).toMatchObject({ out: 'slept' });
    expect(await client.runs.get(threadId, runId)).toMatchObject({ status: 'success' });
  });
});

describe('a project with a langgraph.json', () => {
  it('gets values and interrupts in search results', async () => {
    const graphs = fileURLToPath(new URL('./graphs/', import.meta.url));
    const folder = await mkdtemp(join(graphs, 'compat-'));
    try {
      await copyFile(join(graphs, 'approval.ts'), join(folder, 'approval.ts'));
      const project = join(folder, 'langgraph.json');
      await writeFile(
        project,
        JSON.stringify({ node_version: '20', graphs: { approval: './approval.ts:approval' } }),
      );
      await using stock = await startTestServer({ project });
      const other = createClient({ apiUrl: stock.url });
      const { thread_id } = await other.threads.create();
      await other.runs.wait(thread_id, 'approval', { input: { log: [] } });
      const [found] = await other.threads.search({ status: 'interrupted' });
      expect(found).toMatchObject({ thread_id, values: { log: ['written'] } });
      expect(Object.values(found?.interrupts ?? {}).flat()).toMatchObject([{ value: { question: 'send?' } }]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
