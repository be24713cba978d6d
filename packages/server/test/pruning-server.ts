// A server whose threads are pruned, with the steps that tests of pruning share.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createClient, type Client } from '@svc/sdk';
import { startTestServer, testProject, type TestServer } from './server.ts';
import { createStorage, type Storage } from '../src/storage/storage.ts';

/** Large enough for a blob of its own. */
export const long = (text: string): string => `${text} ${'.'.repeat(100)}`;
export const chatInput = (content: string) => ({ messages: [{ role: 'user', content: long(content) }] });

export interface PruningServer extends AsyncDisposable {
  server: TestServer;
  storage: Storage;
  client: Client;
  newThread: () => Promise<string>;
  keepLatest: (...ids: string[]) => Promise<number>;
  /** Deletes the current garbage at once. Returns false when a blob space was in use. */
  collect: () => Promise<boolean>;
  history: (thread_id: string) => ReturnType<Client['threads']['getHistory']>;
}

export const startPruningServer = async (): Promise<PruningServer> => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-pruning-'));
  const project = join(folder, 'svc.json');
  const at = (name: string) => join(dirname(testProject), name);
  const graphs = {
    chat: `${at('chat.ts')}:chat`,
    probe: `${at('probe.ts')}:probe`,
    barrier: `${at('barrier.ts')}:barrier`,
    approval: `${at('approval.ts')}:approval`,
    nested: `${at('nested.ts')}:nested`,
    delta: `${at('delta-and-subgraphs.ts')}:delta`,
    stateful: `${at('delta-and-subgraphs.ts')}:stateful`,
    functional: `${at('delta-and-subgraphs.ts')}:functional`,
  };
  await writeFile(project, JSON.stringify({ graphs }));
  const server = await startTestServer({ project });
  const storage = createStorage(server.database);
  const client = createClient({ apiUrl: server.url });
  return {
    server,
    storage,
    client,
    newThread: async () => (await client.threads.create()).thread_id,
    keepLatest: async (...ids) => (await client.threads.prune(ids, { strategy: 'keep_latest' })).pruned_count,
    async collect() {
      const rows = await server.database.query<{ blob_space: string }>(
        { name: 'garbage', text: 'select blob_space from blob_garbage' },
        [],
      );
      let all = true;
      for (const { blob_space } of rows) {
        if ((await storage.pruning.collect(blob_space, 1_000)) === null) all = false;
      }
      return all;
    },
    history: (thread_id) => client.threads.getHistory(thread_id, { limit: 1_000 }),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
};
