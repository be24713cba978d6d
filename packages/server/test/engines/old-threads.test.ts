// Threads that the oldest supported engine began are continued by the installed one. `old-threads.json` has the rows that LangGraph.js
// 1.4.4 has stored. To write it again, in a checkout with that engine:
//
// SVC_TEST_STORE_THREADS=old-threads.json npx vitest run packages/server/test/engines
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient, type Client } from '@svc/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../server.ts';
import { scenarios } from './scenarios.ts';
import { readThread, restoreThread, type StoredThread } from './stored-threads.ts';
import { sharedFolder } from '../folders.ts';

const folder = sharedFolder();
let server: TestServer;
let client: Client;
const begun: Record<string, StoredThread> = {};

beforeAll(async () => {
  const project = join(folder, 'svc.json');
  const module = fileURLToPath(new URL('../graphs/continued.ts', import.meta.url));
  const graphs = Object.fromEntries(scenarios.map(({ graph }) => [graph, `${module}:${graph}`]));
  await writeFile(project, JSON.stringify({ graphs }));
  server = await startTestServer({ project });
  client = createClient({ apiUrl: server.url });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  const target = process.env['SVC_TEST_STORE_THREADS'];
  if (target !== undefined) await writeFile(target, JSON.stringify(begun));
});

describe('the installed engine', () => {
  it.each(scenarios)('begins and finishes $title', async ({ title, begin, finish, expected }) => {
    const { thread_id } = await client.threads.create();
    await begin(client, thread_id);
    begun[title] = await readThread(server.database, thread_id);
    expect(await finish(client, thread_id)).toEqual(expected);
  });

  it.each(scenarios)('finishes what the oldest engine began: $title', async ({ title, finish, expected }) => {
    const text = await readFile(new URL('old-threads.json', import.meta.url), 'utf8');
    const stored = (JSON.parse(text) as Record<string, StoredThread>)[title]!;
    const [thread] = stored.threads as [{ thread_id: string }];
    await restoreThread(server.database, stored);
    expect(await finish(client, thread.thread_id)).toEqual(expected);
  });
});
