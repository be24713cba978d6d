// Python graphs whose processes are killed or do not answer.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@langchain/langgraph-sdk';
import { expect } from 'vitest';
import { collect } from '../collect.ts';
import { testDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { startNode, type SvcNode, thisRelease } from '../faults/node-process.ts';
import { signal } from '../faults/process-tree.ts';
import { testFolder } from '../folders.ts';
import { scaled } from '../speed.ts';
import { itWithPythonClients as it } from '../python-clients/python.ts';

const project = fileURLToPath(new URL('graphs/svc.json', import.meta.url));
const release = { ...thisRelease, project };

const clientOf = ({ url }: SvcNode): Client => new Client({ apiUrl: url, timeoutMs: 60_000 });

/** Each execution of a node has written the id of its process. */
const pidsOf = (folder: string, node: string): number[] =>
  readFileSync(join(folder, node), 'utf8').trim().split('\n').map(Number);

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

it.for(['Python process', 'executor', 'server'] as const)(
  'a run continues after the %s was killed, and no finished node is executed again',
  { timeout: scaled(90_000) },
  async (killed) => {
    const folder = testFolder();
    await using database = await testDatabase();
    const options = { databaseUri: database.uri, release, env: { SVC_TEST_STEPS: folder } };
    await using first = await startNode({ name: `${killed.split(' ')[0]}-a`, ...options });
    const { thread_id } = await clientOf(first).threads.create();
    const { run_id } = await clientOf(first).runs.create(thread_id, 'steps', {
      input: { items: ['start'] },
      streamMode: 'updates',
      streamResumable: true,
    });
    // A reader that stays connected gets each event once.
    const events = killed === 'server' ? [] : collect(clientOf(first).runs.joinStream(thread_id, run_id));
    await eventually(() => expect(pidsOf(folder, 'three')).toHaveLength(1));
    // With durability `async`, a node may begin before the step before it is stored.
    await eventually(async () =>
      expect(await clientOf(first).threads.getState(thread_id)).toMatchObject({ next: ['three'] }),
    );
    const [pid = 0] = pidsOf(folder, 'three');
    const [executor = 0] = first.executors();
    if (killed === 'Python process') signal(pid, 'SIGKILL');
    else if (killed === 'executor') signal(executor, 'SIGKILL');
    else await first.killServer();
    await eventually(() => expect([isAlive(pid), isAlive(executor)]).toEqual([false, false]));
    writeFileSync(join(folder, 'go'), '');
    await using second = killed === 'server' ? await startNode({ name: 'server-b', ...options }) : first;
    const client = clientOf(second);
    const result = (await client.runs.join(thread_id, run_id)) as { items: string[] };
    expect(result.items).toEqual(['start', 'one', 'two', 'three', 'four']);
    expect(['one', 'two', 'three', 'four'].map((node) => pidsOf(folder, node).length)).toEqual([1, 1, 2, 1]);
    const updates = (await events).filter(({ event }) => event === 'updates');
    if (killed !== 'server')
      expect(updates.flatMap(({ data }) => Object.keys(data))).toEqual(['one', 'two', 'three', 'four']);
    const history = await client.threads.getHistory(thread_id);
    expect(history.map(({ metadata }) => metadata?.['step'])).toEqual([4, 3, 2, 1, 0, -1]);
  },
);

it(
  'a node that ends its process ends the run after three attempts',
  { timeout: scaled(120_000) },
  async () => {
    await using database = await testDatabase();
    await using node = await startNode({ name: 'crash', databaseUri: database.uri, release });
    const client = clientOf(node);
    const { thread_id } = await client.threads.create();
    // By a signal, as when the kernel ends a process without memory, and by os._exit().
    for (const how of ['crash', 'leave']) {
      const { run_id } = await client.runs.create(thread_id, 'fail', { input: { how } });
      await client.runs.join(thread_id, run_id);
      expect(await client.runs.get(thread_id, run_id)).toMatchObject({ status: 'error', attempt: 3 });
    }
    expect(node.output()).toContain('the Python process of this executor has ended');
    expect(await client.runs.wait(thread_id, 'echo', { input: { messages: 'hi' } })).toMatchObject({
      messages: [{ content: 'hi' }, { content: 'echo: hi' }],
    });
  },
);

it(
  'a Python process that does not respond is reported, and its other runs continue when a cancelled one has ended it',
  { timeout: scaled(120_000) },
  async () => {
    const folder = testFolder();
    await using database = await testDatabase();
    await using node = await startNode({
      name: 'stopped',
      databaseUri: database.uri,
      release,
      env: { SVC_TEST_STEPS: folder },
      limits: { cancelGraceMs: 1_000 },
    });
    const client = clientOf(node);
    const start = async () => {
      const { thread_id } = await client.threads.create();
      const { run_id } = await client.runs.create(thread_id, 'steps', { input: { items: ['start'] } });
      return [thread_id, run_id] as const;
    };
    const [kept, cancelled] = [await start(), await start()];
    await eventually(() => expect(pidsOf(folder, 'three')).toHaveLength(2));
    for (const [thread_id] of [kept, cancelled])
      await eventually(async () =>
        expect(await client.threads.getState(thread_id)).toMatchObject({ next: ['three'] }),
      );
    const [pid = 0] = pidsOf(folder, 'three');
    signal(pid, 'SIGSTOP');
    await eventually(async () => {
      const response = await fetch(`${node.url}/ready`);
      const { message } = (await response.json()) as { message?: string };
      expect([response.status, message]).toEqual([503, expect.stringContaining('blocked by a graph')]);
    });
    await client.runs.cancel(...cancelled, true);
    expect(await client.runs.get(...cancelled)).toMatchObject({ status: 'interrupted' });
    await eventually(() => expect(isAlive(pid)).toBe(false));
    writeFileSync(join(folder, 'go'), '');
    expect(await client.runs.join(...kept)).toMatchObject({
      items: ['start', 'one', 'two', 'three', 'four'],
    });
    expect(await client.runs.get(...kept)).toMatchObject({
      status: 'success',
      attempt: 1,
      lost_attempts: [{ charged: false }],
    });
  },
);

it(
  'a node that blocks the event loop is named, and its run is cancelled',
  { timeout: scaled(90_000) },
  async () => {
    await using database = await testDatabase();

    await using node = await startNode({
      name: 'blocked',
      databaseUri: database.uri,
      release,
      env: { SVC_LOG_LEVEL: 'info' },
      limits: { cancelGraceMs: 1_000 },
    });
    const client = clientOf(node);
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, 'fail', { input: { how: 'block' } });
    await eventually(() =>
      expect(node.output()).toMatch(/event loop is blocked for .*agent\.py:\d+ in fail: time\.sleep/),
    );
    await client.runs.cancel(thread_id, run_id, true);
    expect(await client.runs.get(thread_id, run_id)).toMatchObject({ status: 'interrupted' });
    expect(await client.runs.wait(thread_id, 'echo', { input: { messages: 'hi' } })).toMatchObject({
      messages: [{ content: 'hi' }, { content: 'echo: hi' }],
    });
  },
);
