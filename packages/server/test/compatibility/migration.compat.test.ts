// A project moves from the open dev server to this one: its data is imported, and clients continue where they were.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, type ThreadState } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { owning } from '../../src/app/owned.ts';
import { runCli } from '../cli/cli-process.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { startTestServer } from '../server.ts';
import { copyProject, installPeer, startPeer } from './peer/peer.ts';
import { scaled } from '../speed.ts';

const threadNames = ['chat', 'fork', 'approval', 'questions', 'nested', 'plain', 'untouched'] as const;
type Ids = Record<(typeof threadNames)[number], string>;
type Values = Record<string, unknown>;

const say = (content: string) => ({ messages: [{ role: 'user', content }] });

/** What a client sees of all threads. */
const look = async (client: Client, ids: Ids) => {
  const threads: Record<string, unknown> = {};
  for (const [name, id] of Object.entries(ids)) {
    const { status, metadata, created_at, interrupts } = await client.threads.get(id);
    const history = await client.threads.getHistory(id, { limit: 100 });
    const state = await client.threads.getState(id, undefined, { subgraphs: true });
    threads[name] = {
      status,
      metadata,
      created_at,
      // The dev server lists tasks without interrupts too.
      interrupts: Object.fromEntries(Object.entries(interrupts ?? {}).filter(([, some]) => some.length > 0)),
      history: history.map(seen),
      state: history.length === 0 ? null : seen(state),
    };
  }
  return threads;
};

/** Without what the servers write differently (docs/compatibility.md). */
const seen = ({ values, next, tasks, metadata, checkpoint, parent_checkpoint }: ThreadState): unknown => ({
  checkpoint_id: checkpoint.checkpoint_id,
  parent_id: parent_checkpoint?.checkpoint_id ?? null,
  next,
  values: plain(values),
  source: metadata?.['source'],
  step: metadata?.['step'],
  run_id: metadata?.['run_id'],
  owner: metadata?.['owner'],
  tasks: tasks.map(({ id, name, interrupts, error, state, ...task }) => ({
    id,
    name,
    interrupts,
    failed: error !== null,
    path: (task as { path?: unknown }).path,
    inner: state ? seen(state as ThreadState) : null,
  })),
});

/** Messages by what a conversation consists of. */
const plain = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as Values;
  if (typeof fields['type'] === 'string' && 'content' in fields)
    return { type: fields['type'], content: fields['content'], id: fields['id'] };
  return Object.fromEntries(Object.entries(fields).map(([key, one]) => [key, plain(one)]));
};

/** The dev server writes its files three seconds after a change. */
const untilWritten = async (folder: string, client: Client, ids: Ids): Promise<void> => {
  const marker = await client.threads.create();
  await client.store.putItem(['marker'], marker.thread_id, {});
  const heads = await Promise.all(
    Object.values(ids).map(
      async (id) => (await client.threads.getHistory(id, { limit: 1 }))[0]?.checkpoint.checkpoint_id,
    ),
  );
  const has = async (name: string, ...texts: string[]): Promise<void> => {
    const text = await readFile(join(folder, '.langgraph_api', name), 'utf8');
    for (const wanted of texts) expect(text.includes(wanted), `${name} has ${wanted}`).toBe(true);
  };
  await eventually(() => has('.langgraphjs_ops.json', marker.thread_id));
  await eventually(() => has('.langgraphjs_api.store.json', marker.thread_id));
  await eventually(() =>
    has('.langgraphjs_api.checkpointer.json', ...heads.filter((id) => typeof id === 'string')),
  );
};

const fill = async (client: Client) => {
  const create = async (name: string): Promise<[string, string]> => [
    name,
    (await client.threads.create({ metadata: { owner: 'ann', topic: name } })).thread_id,
  ];
  const ids = Object.fromEntries(await Promise.all(threadNames.map(create))) as Ids;
  const waits = (thread: string, graph: string, input: Values) => client.runs.wait(thread, graph, { input });
  for (const text of ['one', 'two', 'three']) await waits(ids.chat, 'chat', say(text));
  await waits(ids.fork, 'chat', say('first'));
  const [head] = await client.threads.getHistory(ids.fork, { limit: 1 });
  await waits(ids.fork, 'chat', say('second'));
  await client.threads.updateState(ids.fork, {
    values: { messages: [{ role: 'assistant', content: 'corrected' }] },
    asNode: 'answer',
    checkpoint: head?.checkpoint as never,
  });
  await waits(ids.fork, 'chat', say('third'));
  await waits(ids.approval, 'approval', { log: ['start'] });
  await waits(ids.questions, 'questions', { log: ['start'] });
  await waits(ids.nested, 'nested', { log: ['start'] });
  await waits(ids.plain, 'plain', { log: ['start'] }).catch(() => undefined);
  await client.runs.wait(null, 'chat', { input: say('nobody keeps this') });
  const assistant = await client.assistants.create({
    graphId: 'chat',
    name: 'first',
    metadata: { owner: 'ann' },
    config: { configurable: { suffix: 'a' } },
  });
  const { assistant_id } = await client.assistants.update(assistant.assistant_id, { name: 'second' });
  await client.store.putItem(['users', 'ann'], 'likes', { tea: true });
  await client.store.putItem(['users', 'bob'], 'likes', { tea: false });
  return { ids, assistant_id };
};

/** The data of the dev server after it has ended, and what its clients saw last. */
const leaveDevServer = async (folder: string, peer: string) => {
  await using server = await startPeer(peer, folder, 'langgraph.json');
  const client = new Client({ apiUrl: server.url });
  const { ids, assistant_id } = await fill(client);
  const seenThere = await look(client, ids);
  const runs = await client.runs.list(ids.chat);
  const versions = await client.assistants.getVersions(assistant_id);
  await untilWritten(folder, client, ids);
  // Due in an hour, so it is pending when the server ends.
  const later = await client.threads.create();
  const pending = await client.runs.create(later.thread_id, 'chat', {
    input: say('later'),
    afterSeconds: 3_600,
  });
  await eventually(async () => {
    const text = await readFile(join(folder, '.langgraph_api/.langgraphjs_ops.json'), 'utf8');
    expect(text).toContain(pending.run_id);
  });
  return { ids, assistant_id, seenThere, runs, versions, pending };
};

const start = () =>
  owning(async (owned) => {
    const peer = await installPeer();
    const { folder } = owned.keep(await copyProject(peer));
    const left = await leaveDevServer(folder, peer);
    const database: TestDatabase = owned.keep(await testDatabase({ migrated: false }));
    const svc = (...args: string[]) =>
      runCli(['migrate-from', 'langgraph-api', '.', ...args], {
        cwd: folder,
        env: { DATABASE_URI: database.uri },
      }).exit;
    const dry = await svc('--dry-run');
    const imported = await svc('--json');
    const project = join(folder, 'langgraph.json');
    const server = owned.keep(await startTestServer({ project, database }));
    return { ...left, svc, dry, imported, client: new Client({ apiUrl: server.url }) };
  });

let moved: Awaited<ReturnType<typeof start>>;
beforeAll(async () => {
  moved = await start();
}, scaled(300_000));
afterAll(() => moved?.[Symbol.asyncDispose]());

it('a dry run counts what the import brings', () => {
  const { dry, imported } = moved;
  expect(dry).toMatchObject({ code: 0 });
  expect(imported).toMatchObject({ code: 0 });
  const report = JSON.parse(imported.stdout) as Record<string, { imported: number }>;
  // The threads above, the marker, and that of the pending run.
  expect(report).toMatchObject({
    threads: { imported: threadNames.length + 2, existing: 0 },
    assistants: { existing: 0, left_out: 0 },
    items: { imported: 3, existing: 0, left_out: 0 },
  });
  expect(dry.stdout).toContain(`Threads     ${report['threads']?.imported} (`);
  expect(dry.stdout).toMatch(new RegExp(`^Runs        ${report['runs']?.imported} to import`, 'm'));
  expect(dry.stdout).toContain('Nothing was written');
});

it('threads have the state, the history and the metadata that the dev server showed', async () => {
  expect(await look(moved.client, moved.ids)).toEqual(moved.seenThere);
});

it('a run that was pending is reported, and not executed', async () => {
  const { client, pending, imported } = moved;
  expect(imported.stdout).toContain(pending.run_id);
  expect(await client.runs.list(pending.thread_id)).toEqual([]);
  expect((await client.threads.get(pending.thread_id)).status).toBe('idle');
});

it('ended runs are listed', async () => {
  const wire = (runs: Awaited<ReturnType<Client['runs']['list']>>): unknown =>
    runs
      .map(({ run_id, status, created_at, assistant_id }) => ({ run_id, status, created_at, assistant_id }))
      .toSorted((a, b) => (a.run_id < b.run_id ? -1 : 1));
  expect(wire(await moved.client.runs.list(moved.ids.chat))).toEqual(wire(moved.runs));
});

it('assistants have their versions', async () => {
  const { client, assistant_id, versions } = moved;
  const found = await client.assistants.getVersions(assistant_id);
  expect(found.map(({ version, name, config }) => ({ version, name, config }))).toEqual(
    versions.map(({ version, name, config }) => ({ version, name, config })),
  );
  expect(await client.assistants.get(assistant_id)).toMatchObject({ version: 2, name: 'second' });
  expect(await client.assistants.search({ metadata: { owner: 'ann' } })).toHaveLength(1);
});

it('the store is searched, and threads are found by their owner', async () => {
  const { client } = moved;
  const { items } = await client.store.searchItems(['users'], { filter: { tea: true } });
  expect(items).toMatchObject([{ namespace: ['users', 'ann'], key: 'likes', value: { tea: true } }]);
  expect(await client.threads.search({ metadata: { owner: 'ann' }, limit: 100 })).toHaveLength(
    threadNames.length,
  );
});

it('a second import changes nothing', async () => {
  const before = await look(moved.client, moved.ids);
  const again = await moved.svc('--json');
  expect(again.code).toBe(0);
  expect(JSON.parse(again.stdout)).toMatchObject({
    threads: { imported: 0, existing: threadNames.length + 2 },
    runs: { imported: 0 },
    assistants: { imported: 0 },
    items: { imported: 0, existing: 3 },
  });
  expect(await look(moved.client, moved.ids)).toEqual(before);
});

it('a conversation continues, also from an earlier checkpoint', async () => {
  const { client, ids } = moved;
  const after = (await client.runs.wait(ids.chat, 'chat', { input: say('four') })) as { messages: unknown[] };
  expect(after.messages).toHaveLength(8);
  expect(after.messages.at(-1)).toMatchObject({ type: 'ai', content: 'echo four' });
  const history = await client.threads.getHistory(ids.fork, { limit: 100 });
  const oldest = history.findLast(({ next }) => next.length === 0);
  const forked = (await client.runs.wait(ids.fork, 'chat', {
    input: say('again'),
    checkpointId: oldest?.checkpoint.checkpoint_id as string,
  })) as { messages: { content: string }[] };
  expect(forked.messages.map(({ content }) => content)).toEqual([
    'first',
    'echo first',
    'again',
    'echo again',
  ]);
});

it('interrupts are resumed: of a node, of several tasks, and within a subgraph', async () => {
  const { client, ids } = moved;
  const resume = (thread: string, graph: string, answer: unknown) =>
    client.runs.wait(thread, graph, { command: { resume: answer } });
  expect(await resume(ids.approval, 'approval', 'yes')).toMatchObject({
    log: ['start', 'written', 'answered yes', 'sent'],
  });
  expect(await resume(ids.nested, 'nested', 'deeply')).toMatchObject({
    log: expect.arrayContaining(['asked deeply']) as unknown,
  });
  const { interrupts } = await client.threads.get(ids.questions);
  const answers = Object.values(interrupts)
    .flat()
    .map(({ id, value }) => [id, `to ${String(value)}`]);
  expect(answers).toHaveLength(2);
  expect(await resume(ids.questions, 'questions', Object.fromEntries(answers))).toMatchObject({
    log: expect.arrayContaining(['left: to left', 'right: to right']) as unknown,
  });
  for (const id of [ids.approval, ids.nested, ids.questions])
    expect((await client.threads.get(id)).status).toBe('idle');
});

it('an imported run and an imported thread are deleted', async () => {
  const { client, ids } = moved;
  const [newest] = await client.runs.list(ids.plain);
  await client.runs.delete(ids.plain, newest?.run_id ?? '');
  expect(await client.threads.getHistory(ids.plain)).toEqual([]);
  await client.threads.delete(ids.untouched);
  await expect(client.threads.get(ids.untouched)).rejects.toThrow('404');
});
