// What a server reports of the graphs that it loads.
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSvcJson } from '../../src/config/project/svc-json.ts';
import { testSettings } from '../../src/config/test-settings.ts';
import { startServer, type RunningServer } from '../../src/app/server.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { createProjectFolder, installed, type ProjectFolder, replying } from './project-folder.ts';

let folder: ProjectFolder;
let database: TestDatabase;
let lines: { level: number; msg: string }[];
beforeEach(async () => {
  folder = createProjectFolder();
  database = await testDatabase();
  lines = [];
});
afterEach(async () => {
  await database[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const logged = (level: 'error' | 'warn'): string[] =>
  lines.filter((line) => line.level === pino.levels.values[level]).map(({ msg }) => msg);

const start = (graphs: Record<string, string>): Promise<RunningServer> => {
  const settings = testSettings({
    dataDir: join(folder.dir, '.svc'),
    databaseUri: database.uri,
    executors: '2',
  });
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line) as never) });
  return startServer({
    settings,
    project: loadSvcJson(folder.write({ 'svc.json': { graphs } }), {}),
    logger,
  });
};

const ready = async ({ url }: RunningServer): Promise<{ status: number; body: Record<string, unknown> }> => {
  const response = await fetch(`${url}/ready`);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

const reply = async ({ url }: RunningServer, assistant_id: string): Promise<unknown> => {
  const thread_id = crypto.randomUUID();
  const response = await fetch(`${url}/threads/${thread_id}/runs/wait`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ assistant_id, input: { messages: [] }, if_not_exists: 'create' }),
  });
  const { messages, ...rest } = (await response.json()) as { messages?: { content: string }[] };
  const state = (await (await fetch(`${url}/threads/${thread_id}/state`)).json()) as {
    values: { messages?: object[] };
  };
  return messages ? [messages.at(-1)?.content, state.values.messages?.length] : rest;
};

describe('graphs that cannot be loaded', () => {
  it('are logged once at the start with file, line, cause and remedy, and /ready names them', async () => {
    folder.write({
      'package.json': { type: 'module' },
      'good.ts': replying('"hi"'),
      'inner.ts': `export const a = 1;\nthrow new Error('no such model');\n`,
      'throws.ts': `import './inner';\n${replying('"hi"')}`,
      'syntax.ts': `const graph = ;\n`,
      'package.ts': `// agents\nimport 'not-installed/agents';\n`,
      'missing.ts': `import './nowhere.ts';\n`,
      'other.ts': 'export const agent = 1;\n',
    });
    await using server = await start({
      good: './good.ts:graph',
      throws: './throws.ts:graph',
      syntax: './syntax.ts:graph',
      package: './package.ts:graph',
      missing: './missing.ts:graph',
      other: './other.ts:graph',
    });
    const failed = ['missing', 'other', 'package', 'syntax', 'throws'];
    await eventually(async () => {
      const { status, body } = await ready(server);
      expect({ status, failed: (body['failed_graphs'] as string[]).toSorted() }).toEqual({
        status: 200,
        failed,
      });
    });
    const { dir } = folder;
    expect(logged('error').toSorted()).toEqual([
      `Graph "missing" cannot be loaded: ${dir}/missing.ts: Cannot find module '${dir}/nowhere.ts' imported from ${dir}/missing.ts ` +
        `(${dir}/missing.ts:1). Create the file, or correct the import.`,
      `Graph "other": ${dir}/other.ts does not export graph; it exports agent. Name one of them after the colon`,
      `Graph "package" cannot be loaded: ${dir}/package.ts: Cannot find package 'not-installed' imported from ${dir}/package.ts ` +
        `(${dir}/package.ts:2). Install it (npm install not-installed), or add it to "paths" of tsconfig.json.`,
      `Graph "syntax" cannot be loaded: ${dir}/syntax.ts: Transform failed with 1 error:\n${dir}/syntax.ts:1:14: ERROR: Unexpected ";". ` +
        'Correct the syntax.',
      `Graph "throws" cannot be loaded: ${dir}/throws.ts: no such model (${dir}/inner.ts:2:7). The module throws while it is imported: correct it.`,
    ]);
    expect(await reply(server, 'good')).toEqual(['hi', 1]);
  });

  it('make a server not ready if it has no other graphs', async () => {
    folder.write({ 'bad.mjs': "throw new Error('no');" });
    await using server = await start({ bad: './bad.mjs:graph' });
    await eventually(async () =>
      expect(await ready(server)).toMatchObject({
        status: 503,
        body: { message: 'No graph can be loaded (bad): the log has the reasons' },
      }),
    );
  });
});

describe('graphs that are loaded', () => {
  it('may be agents that have their graph under "graph", also from a factory', async () => {
    folder.write({
      'package.json': { type: 'module' },
      'agent.ts': `${replying('"from an agent"')}
class ReactAgent { #graph = graph; get graph() { return this.#graph; } invoke() {} }
export const agent = new ReactAgent();
export const makeAgent = async () => new ReactAgent();`,
    });
    await using server = await start({ agent: './agent.ts:agent', factory: './agent.ts:makeAgent' });
    expect(await reply(server, 'agent')).toEqual(['from an agent', 1]);
    expect(await reply(server, 'factory')).toEqual(['from an agent', 1]);
  });

  it('lose their own checkpointer and store, which is logged once', async () => {
    const owning = replying(
      '(config as any).store.constructor.name',
      "import { InMemoryStore, MemorySaver } from '@langchain/langgraph';",
    )
      .replace('() =>', '(_: unknown, config: unknown) =>')
      .replace('.compile()', '.compile({ checkpointer: new MemorySaver(), store: new InMemoryStore() })');
    folder.write({ 'package.json': { type: 'module' }, 'own.ts': owning });
    await using server = await start({ own: './own.ts:graph' });
    await eventually(async () => expect((await ready(server)).body).toMatchObject({ workers: 1 }));
    expect(await reply(server, 'own')).toEqual([expect.not.stringContaining('InMemoryStore'), 1]);
    const notice = (part: string) =>
      `Graph "own" is compiled with a ${part} of its own, which is not used: svc stores threads and items in its database`;
    expect(logged('warn')).toEqual([notice('checkpointer'), notice('store')]);
  });

  it('run with the engine of the server, and another version in the project is logged', async () => {
    folder.link('app/node_modules/@langchain/core', join(installed, '@langchain/core'));
    folder.write({
      'app/agent.mts': replying('"hi"'),
      'app/node_modules/@langchain/langgraph/package.json': { version: '1.2.3' },
    });
    await using server = await start({ agent: './app/agent.mts:graph' });
    expect(await reply(server, 'agent')).toEqual(['hi', 1]);
    expect(logged('warn')).toEqual([
      expect.stringMatching(
        /^The project has @langchain\/langgraph 1\.2\.3 in \S+; its graphs run with [\d.]+, the version/,
      ),
    ]);
  });

  it('are loaded without a tsconfig.json that cannot be read, which is logged', async () => {
    folder.write({
      'tsconfig.json': { extends: './missing.json' },
      'package.json': { type: 'module' },
      'agent.ts': replying('"hi"'),
    });
    await using server = await start({ agent: './agent.ts:graph' });
    expect(await reply(server, 'agent')).toEqual(['hi', 1]);
    expect(logged('warn')).toEqual([expect.stringContaining('tsconfig.json cannot be read')]);
  });
});
