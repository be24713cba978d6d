// Imports of files that the dev server has written, and of damaged and hostile ones.
import { randomUUID } from 'node:crypto';
import { appendFile, readdir, readFile, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MemorySaver } from '@langchain/langgraph';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withCheckpointer } from '../engine-copy.ts';
import { defaultAssistantId } from '../../src/deployment/assistants/default-assistant.ts';
import type { EngineGraph } from '../../src/engine/executor/graphs/graph-registry.ts';
import { openDevServerFolder } from '../../src/migration/dev-server-folder.ts';
import type { ThreadImporter } from '../../src/migration/thread-importer.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { approval, questions } from '../graphs/approval.ts';
import { builder } from '../graphs/chat.ts';
import { delta } from '../graphs/delta-and-subgraphs.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { DevServerData, encoded, writeTexts } from './dev-server-files.ts';
import { importFolder, startImporter } from './importing.ts';
import { fixture } from '../fixture.ts';

const graphFile = (name: string): string => fileURLToPath(new URL(`../graphs/${name}`, import.meta.url));

/** `fatal` ends the process that makes it. */
const projectFiles = {
  'svc.json': JSON.stringify({
    graphs: {
      chat: `${graphFile('chat.ts')}:chat`,
      approval: `${graphFile('approval.ts')}:approval`,
      questions: `${graphFile('approval.ts')}:questions`,
      delta: `${graphFile('delta-and-subgraphs.ts')}:delta`,
      broken: `${graphFile('broken.ts')}:broken`,
      fatal: './fatal.mjs:make',
    },
  }),
  'fatal.mjs': 'export const make = () => process.exit(7);',
};

const project = fixture(() => writeTexts(projectFiles));
let database: TestDatabase;
let importer: ThreadImporter;
let server: TestServer;
beforeAll(async () => {
  const config = join(project.folder, '.langgraph_api/svc.json');
  database = await testDatabase();
  importer = startImporter(database, config);
  server = await startTestServer({ database, project: config });
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await importer?.[Symbol.asyncDispose]();
  await database?.[Symbol.asyncDispose]();
});

const checkpointerFile = '.langgraphjs_api.checkpointer.json';
const opsFile = '.langgraphjs_ops.json';

const chat = (saver: MemorySaver) => builder.compile({ checkpointer: saver });
const withSaver = (graph: object) => (saver: MemorySaver) => withCheckpointer<EngineGraph>(graph, saver);
const say = (content: string) => ({ messages: [{ role: 'user', content }] });
const get = async (path: string): Promise<unknown> => (await server.call('GET', path)).body;
const isHere = async (thread_id: string): Promise<boolean> =>
  (await server.call('GET', `/threads/${thread_id}`)).status === 200;

const importData = async (data: DevServerData, changed?: Parameters<typeof importFolder>[3]) => {
  await using files = await data.write();
  return await importFolder(files.folder, database, importer, changed);
};
const importTexts = async (texts: Record<string, string>) => {
  await using files = await writeTexts(texts);
  return await importFolder(files.folder, database, importer);
};

describe('an import', () => {
  it('brings threads, runs, assistants and items, and only reads the folder', async () => {
    const data = new DevServerData();
    const thread_id = await data.addConversation('chat', chat, [say('one'), say('two')]);
    const assistant_id = randomUUID();
    data.addAssistant(assistant_id, ['first', 'second']);
    data.addItem(['users', 'ann'], 'likes', { tea: true });
    await using files = await data.write();
    const folder = join(files.folder, '.langgraph_api');
    const readAll = async (): Promise<string[]> =>
      Promise.all((await readdir(folder)).toSorted().map((name) => readFile(join(folder, name), 'utf8')));
    const before = await readAll();
    // The folder itself may be named too.
    expect(await importFolder(folder, database, importer)).toMatchObject({
      threads: { imported: 1, checkpoints: 6, left_out: 0 },
      runs: { imported: 2, left_out: 0 },
      assistants: { imported: 1, versions: 2 },
      items: { imported: 1 },
      left_out: [],
      notices: [],
    });
    expect(await readAll()).toEqual(before);

    expect(await get(`/threads/${thread_id}`)).toMatchObject({
      status: 'idle',
      metadata: { owner: 'ann' },
      created_at: expect.stringMatching(/^2025-01-02T03:04:05\.678/) as string,
      updated_at: expect.stringMatching(/^2025-01-03/) as string,
    });
    expect(await get(`/threads/${thread_id}/state`)).toMatchObject({
      values: { messages: [say('one'), 0, say('two'), 0].map(() => expect.anything() as unknown) },
      next: [],
    });
    const { body: history } = await server.call('POST', `/threads/${thread_id}/history`, { limit: 100 });
    expect((history as { next: string[] }[]).map(({ next }) => next)).toEqual([
      [],
      ['answer'],
      ['__start__'],
      [],
      ['answer'],
      ['__start__'],
    ]);
    expect((history as { metadata: { writes: object } }[])[0]?.metadata.writes).toHaveProperty('answer');
    // A run has its result: the state that it left.
    const [first = ''] = Object.keys(data.runs);
    expect(await get(`/threads/${thread_id}/runs/${first}/join`)).toMatchObject({
      messages: [{ content: 'one' }, { content: 'echo one' }],
    });
    expect(await get(`/assistants/${assistant_id}`)).toMatchObject({ version: 2, name: 'second' });
    expect(await get('/store/items?namespace=users.ann&key=likes')).toMatchObject({ value: { tea: true } });
  });

  it('keeps interrupts, which are resumed', async () => {
    const data = new DevServerData();
    const one = await data.addConversation('approval', withSaver(approval), [{ log: [] }]);
    const two = await data.addConversation('questions', withSaver(questions), [{ log: [] }]);
    for (const id of [one, two]) (data.threads[id] as Record<string, unknown>)['status'] = 'busy';
    await importData(data);
    expect(await get(`/threads/${one}`)).toMatchObject({ status: 'interrupted' });
    const { interrupts } = (await get(`/threads/${two}`)) as { interrupts: Record<string, { id: string }[]> };
    const ids = Object.values(interrupts)
      .flat()
      .map(({ id }) => id);
    expect(ids).toHaveLength(2);
    const resume = async (id: string, assistant_id: string, answer: unknown) =>
      (await server.call('POST', `/threads/${id}/runs/wait`, { assistant_id, command: { resume: answer } }))
        .body;
    expect(await resume(one, 'approval', 'yes')).toMatchObject({ log: ['written', 'answered yes', 'sent'] });
    const answers = Object.fromEntries(ids.map((id) => [id, 'a']));
    expect(await resume(two, 'questions', answers)).toMatchObject({ log: ['first a', 'second a', 'last'] });
  });

  it('keeps the changes from which delta channels are rebuilt', async () => {
    const data = new DevServerData();
    const thread_id = await data.addConversation(
      'delta',
      withSaver(delta),
      ['one', 'two', 'three'].map((content) => say(content)),
    );
    expect(await importData(data)).toMatchObject({ threads: { imported: 1 } });
    const { body } = await server.call('POST', `/threads/${thread_id}/runs/wait`, {
      assistant_id: 'delta',
      input: say('four'),
    });
    expect(body).toMatchObject({ seen: 'one yes two yes three yes four' });
  });

  it('changes nothing when it is repeated, and brings what is new', async () => {
    const data = new DevServerData();
    const first = await data.addConversation('chat', chat, [say('one')]);
    data.addItem(['again'], 'a', { n: 1 });
    await importData(data);
    await server.call('PATCH', `/threads/${first}`, { metadata: { changed: 'here' } });
    await server.call('PUT', '/store/items', { namespace: ['again'], key: 'a', value: { n: 2 } });
    const second = data.addThread();
    expect(await importData(data)).toMatchObject({
      threads: { imported: 1, existing: 1, checkpoints: 0 },
      runs: { imported: 0 },
      items: { imported: 0, existing: 1 },
    });
    expect(await get(`/threads/${first}`)).toMatchObject({ metadata: { changed: 'here', owner: 'ann' } });
    expect(await get('/store/items?namespace=again&key=a')).toMatchObject({ value: { n: 2 } });
    expect(await isHere(second)).toBe(true);
  });

  it('continues after an import that was stopped between two threads', async () => {
    const data = new DevServerData();
    for (const text of ['one', 'two', 'three']) await data.addConversation('chat', chat, [say(text)]);
    const stop = new AbortController();
    const stopped = importData(data, {
      signal: stop.signal,
      async importThread(command) {
        const answer = await importer.import(command);
        stop.abort(new Error('stopped here'));
        return answer;
      },
    });
    await expect(stopped).rejects.toThrow('stopped here');
    expect(await importData(data)).toMatchObject({
      threads: { imported: 2, existing: 1 },
      runs: { imported: 2 },
    });
  });

  it('leaves out unfinished runs, stateless runs, and checkpoints without a thread', async () => {
    const data = new DevServerData();
    const thread_id = data.addThread({ status: 'busy' });
    const pending = data.addRun(thread_id, 'chat', { status: 'pending' });
    const lone = data.addRun(randomUUID(), 'chat');
    const deleted = randomUUID();
    data.storage[deleted] = { '': {} };
    data.storage[deleted] = { '': { [randomUUID()]: [encoded({}), encoded({}), null] } };
    const { left_out, runs } = await importData(data);
    expect(runs).toEqual({ imported: 0, left_out: 2 });
    expect(left_out).toMatchObject([
      { kind: 'run', id: lone, isFault: false },
      { kind: 'run', id: pending, reason: 'it was pending, and is not executed', isFault: false },
      { kind: 'thread', id: deleted, isFault: false },
    ]);
    expect(await get(`/threads/${thread_id}`)).toMatchObject({ status: 'idle' });
  });

  it('leaves out threads of graphs that are missing or fail to load', async () => {
    const data = new DevServerData();
    const unknown = await data.addConversation('unknown', chat, [say('one')]);
    const broken = await data.addConversation('broken', chat, [say('one')]);
    const { left_out } = await importData(data);
    expect(left_out).toMatchObject([
      { kind: 'thread', id: unknown, reason: 'its graph is unknown', isFault: true },
      { kind: 'thread', id: broken, reason: expect.stringContaining('broken.ts') as string, isFault: true },
    ]);
    // With --any-graph: the values are there, the next nodes are not.
    expect(await importData(data, { obstacle: () => undefined })).toMatchObject({ threads: { imported: 2 } });
    expect(await get(`/threads/${unknown}/state`)).toMatchObject({
      values: { messages: [{ content: 'one' }, { content: 'echo one' }] },
      next: [],
    });
  });

  it('adds versions to a default assistant that nobody has changed here', async () => {
    const id = defaultAssistantId('chat');
    const data = new DevServerData();
    data.addAssistant(id, ['chat', 'changed there']);
    expect(await importData(data)).toMatchObject({ assistants: { imported: 1, versions: 2, existing: 0 } });
    expect(await get(`/assistants/${id}`)).toMatchObject({ version: 2, name: 'changed there' });
    expect(await importData(data)).toMatchObject({ assistants: { imported: 0, existing: 1 } });
  });

  it('does not bring users and headers of requests, and no owner that only this server may set', async () => {
    const data = new DevServerData();
    const headers = { 'x-goog-api-key': 'secret header', 'User-Agent': 'secret header' };
    const user = { langgraph_auth_user: { token: 'secret' }, langgraph_auth_user_id: 'ann', ...headers };
    const thread_id = await data.addConversation('chat', chat, [say('one')]);
    const [run_id = ''] = Object.keys(data.runs);
    Object.assign(data.threads[thread_id] as object, {
      metadata: { owner: 'ann', graph_id: 'chat', svc_auth_user_id: 'forged' },
      config: { configurable: { ...user, tone: 'kind' } },
    });
    const configurable = { ...user, provider_key: 'secret key', owner: 'ann' };
    Object.assign(data.runs[run_id] as object, { kwargs: { config: { configurable } } });
    const [id = ''] = Object.keys(data.storage[thread_id]?.[''] ?? {});
    const entry = data.storage[thread_id]?.['']?.[id] as string[];
    const metadata = JSON.parse(Buffer.from(entry[1] ?? '', 'base64').toString()) as object;
    entry[1] = encoded({ ...metadata, ...configurable });
    expect(await importData(data)).toMatchObject({ threads: { imported: 1 } });
    const [thread, run, { body: history }] = [
      await get(`/threads/${thread_id}`),
      await get(`/threads/${thread_id}/runs/${run_id}`),
      await server.call('POST', `/threads/${thread_id}/history`, {}),
    ];
    expect(JSON.stringify([thread, history])).not.toMatch(/secret|forged/);
    expect(JSON.stringify([thread, run, history])).not.toMatch(/langgraph_auth_user|secret header/);
    expect((history as { metadata: object }[]).at(-1)?.metadata).toMatchObject({ owner: 'ann' });
    expect(thread).toMatchObject({ config: { configurable: { tone: 'kind' } } });
  });

  it.each(['pending', 'running', undefined])(
    'does not bring values of configurable with checkpoints of a run that is %s',
    async (status) => {
      const data = new DevServerData();
      const thread_id = await data.addConversation('chat', chat, [say('one')]);
      const [run_id = ''] = Object.keys(data.runs);
      const configurable = { 'x-header': 'secret', provider_key: 'secret key' };
      if (status === undefined) delete data.runs[run_id];
      else Object.assign(data.runs[run_id] as object, { status, kwargs: { config: { configurable } } });
      for (const entry of Object.values(data.storage[thread_id]?.[''] ?? {})) {
        const metadata = JSON.parse(Buffer.from(entry[1] as string, 'base64').toString()) as object;
        entry[1] = encoded({ ...configurable, ...metadata });
      }
      expect(await importData(data)).toMatchObject({ threads: { imported: 1 } });
      const { body: history } = await server.call('POST', `/threads/${thread_id}/history`, {});
      expect(JSON.stringify(history)).not.toMatch(/secret/);
      expect(history).toMatchObject([{ metadata: { source: 'loop', step: 1, run_id } }, {}, {}]);
    },
  );
});

describe('a damaged or hostile folder', () => {
  it.each([opsFile, checkpointerFile, '.langgraphjs_api.store.json'])(
    'is rejected with file and place when %s was cut off, and nothing is imported',
    async (name) => {
      const data = new DevServerData();
      const thread_id = await data.addConversation('chat', chat, [say('one')]);
      data.addItem(['cut'], 'a', {});
      await using files = await data.write();
      const path = join(files.folder, '.langgraph_api', name);
      const { length } = await readFile(path);
      await truncate(path, length - 10);
      await expect(importFolder(files.folder, database, importer)).rejects.toThrow(
        `${name} is damaged at byte ${length - 10}: the file ends in the middle. Nothing was imported`,
      );
      expect(await isHere(thread_id)).toBe(false);
    },
  );

  it('is rejected when it is no folder of the dev server', async () => {
    const { signal } = new AbortController();
    await using empty = await writeTexts({});
    await expect(openDevServerFolder(empty.folder, signal)).rejects.toThrow(`there is no ${opsFile}`);
    await using python = await writeTexts({ '.langgraph_ops.pckl': '' });
    await expect(openDevServerFolder(python.folder, signal)).rejects.toThrow('LangGraph for Python');
  });

  it('may lack files, which the report names', async () => {
    const data = new DevServerData();
    const thread_id = data.addThread();
    await using files = await data.write();
    for (const name of [checkpointerFile, '.langgraphjs_api.store.json'])
      await rm(join(files.folder, '.langgraph_api', name));
    const { left_out } = await importFolder(files.folder, database, importer);
    expect(left_out.map(({ id }) => id)).toEqual([checkpointerFile, '.langgraphjs_api.store.json']);
    expect(await isHere(thread_id)).toBe(true);
  });

  const deep = `${'['.repeat(9_000)}${']'.repeat(9_000)}`;
  const body = { v: 4, id: 'x', ts: '', channel_versions: {}, versions_seen: {} };
  it.each([
    ['text that is no JSON', Buffer.from('{"v":').toString('base64'), 'cannot be read'],
    ['a number instead of base64', 12, 'is not base64'],
    ['no channels', encoded({ v: 4 }), 'lacks channel_values'],
    [
      'deep values',
      Buffer.from(JSON.stringify(body).replace('}', `},"channel_values":{"messages":${deep}}`)).toString(
        'base64',
      ),
      'checkpoint',
    ],
  ])('loses only the thread whose checkpoint has %s', async (_, damaged, reason) => {
    const data = new DevServerData();
    const bad = await data.addConversation('chat', chat, [say('one')]);
    const good = await data.addConversation('chat', chat, [say('two')]);
    const newest = Object.entries(data.storage[bad]?.[''] ?? {}).at(-1)?.[1] as unknown[];
    newest[0] = damaged;
    const { threads, left_out } = await importData(data);
    expect(threads).toMatchObject({ imported: 1, left_out: 1 });
    expect(left_out).toMatchObject([
      { kind: 'thread', id: bad, reason: expect.stringContaining(reason) as string, isFault: true },
    ]);
    expect([await isHere(bad), await isHere(good)]).toEqual([false, true]);
    const rows = await database.query({ text: 'select 1 from blobs where space = $1' }, [bad]);
    expect(rows).toEqual([]);
  });

  it('cannot reach prototypes', async () => {
    const data = new DevServerData();
    const thread_id = await data.addConversation('chat', chat, [say('one')]);
    const texts = data.texts();
    const hostile = '"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}';
    texts[opsFile] = (texts[opsFile] ?? '')
      .replace('"threads":{', `"threads":{${hostile},`)
      .replace('"metadata":{"graph_id"', `"metadata":{${hostile},"graph_id"`);
    texts[checkpointerFile] = (texts[checkpointerFile] ?? '').replace(
      '"storage":{',
      `"storage":{${hostile},`,
    );
    const { left_out } = await importTexts(texts);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect(left_out.map(({ id }) => id)).toEqual(['__proto__', 'constructor']);
    expect(await isHere(thread_id)).toBe(true);
  });

  it('is rejected when an id occurs twice', async () => {
    const data = new DevServerData();
    const thread_id = data.addThread();
    const texts = data.texts();
    const again = (texts[opsFile] ?? '').replace('"threads":{', `"threads":{"${thread_id}":{},`);
    await expect(importTexts({ ...texts, [opsFile]: again })).rejects.toThrow(`"${thread_id}" occurs twice`);
    expect(await isHere(thread_id)).toBe(false);
  });

  it('loses only what the database cannot keep', async () => {
    const data = new DevServerData();
    const nul = data.addThread({ metadata: { text: 'a\u0000b' } });
    const late = data.addThread({ created_at: 'yesterday' });
    const odd = data.addThread({ status: 'asleep' });
    const long = await data.addConversation('chat', chat, [say('long '.repeat(200_000))]);
    data.addItem(['a.b'], 'dotted', {});
    data.addItem(['large'], 'value', { text: 'x'.repeat(2_000_000) });
    data.addItem(['text'], 'value', 'no object');
    const { left_out, items } = await importData(data);
    expect(left_out.filter(({ kind }) => kind === 'thread').map(({ id }) => id)).toEqual([nul, late, odd]);
    expect(items).toEqual({ imported: 0, existing: 0, left_out: 3 });
    expect(await isHere(long)).toBe(true);
  });

  it('loses only the thread that ends the process of the import', async () => {
    const data = new DevServerData();
    const bad = await data.addConversation('fatal', chat, [say('one')]);
    const good = await data.addConversation('chat', chat, [say('one')]);
    const { left_out } = await importData(data);
    expect(left_out).toMatchObject([
      { id: bad, reason: expect.stringContaining('ended before it answered (exit code 7)') as string },
    ]);
    expect([await isHere(bad), await isHere(good)]).toEqual([false, true]);
  });

  it('loses only the runs that are damaged or that the database cannot keep', async () => {
    const data = new DevServerData();
    const thread_id = data.addThread();
    const bad = [
      data.addRun(thread_id, 'chat', { created_at: 'yesterday' }),
      data.addRun(thread_id, 'chat', { metadata: { text: 'a\u0000b' } }),
      data.addRun(thread_id, 'chat', { input: 'CUT' }),
    ];
    data.addRun(thread_id, 'chat');
    const texts = data.texts();
    texts[opsFile] = (texts[opsFile] ?? '').replace('"CUT"', String.raw`"\x"`);
    const { left_out, runs, threads } = await importTexts(texts);
    expect(left_out.map(({ kind, id, isFault }) => [kind, id, isFault])).toEqual(
      bad.map((id) => ['run', id, true]),
    );
    expect([runs, threads]).toMatchObject([{ imported: 1, left_out: 3 }, { imported: 1 }]);
  });

  it('is rejected when the file of the runs changes while it is read', async () => {
    const data = new DevServerData();
    const thread_id = await data.addConversation('chat', chat, [say('one')]);
    await using files = await data.write();
    const changed = importFolder(files.folder, database, importer, {
      async importThread(command) {
        await appendFile(join(files.folder, '.langgraph_api', opsFile), ' ');
        return importer.import(command);
      },
    });
    await expect(changed).rejects.toThrow('was changed while it was read. Stop the dev server');
    expect(await isHere(thread_id)).toBe(false);
  });

  it('is rejected when a file changes while it is read', async () => {
    const data = new DevServerData();
    const thread_id = await data.addConversation('chat', chat, [say('one')]);
    await using files = await data.write();
    const changed = importFolder(files.folder, database, importer, {
      async importThread(command) {
        await appendFile(join(files.folder, '.langgraph_api', checkpointerFile), ' ');
        return importer.import(command);
      },
    });
    await expect(changed).rejects.toThrow('was changed while it was read. Stop the dev server');
    expect(await isHere(thread_id)).toBe(false);
  });
});
