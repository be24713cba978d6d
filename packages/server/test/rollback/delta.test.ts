// Delta channels are rebuilt from earlier checkpoints, including checkpoints of deleted runs.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient, type Client } from '@svc/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../server.ts';
import { sharedFolder } from '../folders.ts';

const folder = sharedFolder();
let server: TestServer;
let client: Client;
beforeAll(async () => {
  const project = join(folder, 'svc.json');
  const file = fileURLToPath(new URL('../graphs/delta-and-subgraphs.ts', import.meta.url));
  await writeFile(
    project,
    JSON.stringify({ graphs: { delta: `${file}:delta`, parallel: `${file}:parallelDelta` } }),
  );
  server = await startTestServer({ project });
  client = createClient({ apiUrl: server.url });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

/** Sends a message and returns what the graph then remembers. */
const sendMessage = async (thread_id: string, content: string): Promise<string> => {
  const input = { messages: [{ role: 'user', content }] };
  return (await client.runs.wait<{ seen: string }>(thread_id, 'delta', { input })).seen;
};

describe('a deleted run that has later runs', () => {
  const places = [2, 3, 4, 5].flatMap((runs) => Array.from({ length: runs - 1 }, (_, at) => ({ runs, at })));
  it.each(places)('leaves the values of later runs unchanged: run $at of $runs', async ({ runs, at }) => {
    const { thread_id } = await client.threads.create();
    let seen = '';
    for (let n = 0; n < runs; n++) seen = await sendMessage(thread_id, `${n}`);
    const run = (await client.runs.list(thread_id)).toReversed()[at];
    await client.runs.delete(thread_id, run?.run_id ?? '');
    expect(await sendMessage(thread_id, 'after')).toBe(`${seen} yes after`);
  });

  it('is removed completely once the run after it is deleted', async () => {
    const thread_id = (await client.threads.create()).thread_id;
    for (const text of ['a', 'b', 'c']) await sendMessage(thread_id, text);
    const [last, middle] = await client.runs.list(thread_id);
    await client.runs.delete(thread_id, middle?.run_id ?? '');
    await client.runs.delete(thread_id, last?.run_id ?? '');
    expect(await sendMessage(thread_id, 'd')).toBe('a yes d');
  });
});

describe('a delta channel that parallel nodes have written', () => {
  it('has the messages in the same order when a later run rebuilds it', async () => {
    const { thread_id } = await client.threads.create();
    const run = (note: string) =>
      client.runs.wait<{ seen?: string; messages: { content: string }[] }>(thread_id, 'parallel', {
        input: { note },
      });
    // The order of the nodes since LangGraph.js 1.5, that of the ids of the tasks before.
    const written = (await run('write')).messages.map(({ content }) => content).join('');
    expect(written.split('').toSorted().join('')).toBe('abcdef');
    expect((await run('look')).seen).toBe(written);
  });
});
