// What a server reports of the graphs that it loads.
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadSvcJson } from '../../src/config/project/svc-json.ts';
import { testSettings } from '../settings.ts';
import { startServer, type RunningServer } from '../../src/app/server.ts';
import { testDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { createProjectFolder, installed, type ProjectFolder, replying } from './project-folder.ts';
import { fixture } from '../fixture.ts';

const database = fixture(() => testDatabase());

/** Starts a server of the project in the folder. `lines` gets its log. */
const start = (
  folder: ProjectFolder,
  graphs: Record<string, string>,
  { lines, executors }: { lines: { level: number; msg: string }[]; executors: number },
): Promise<RunningServer> =>
  startServer({
    settings: testSettings({
      dataDir: join(folder.dir, '.svc'),
      databaseUri: database.uri,
      executors: String(executors),
    }),
    project: loadSvcJson(folder.write({ 'svc.json': { graphs } }), {}),
    logger: pino({}, { write: (line: string) => void lines.push(JSON.parse(line) as never) }),
  });

const ready = async (url: string): Promise<{ status: number; body: Record<string, unknown> }> => {
  const response = await fetch(`${url}/ready`);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

const reply = async (url: string, assistant_id: string): Promise<unknown> => {
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

/** Uses a checkpointer and a store of its own. */
const owning = replying(
  '(config as any).store.constructor.name',
  "import { InMemoryStore, MemorySaver } from '@langchain/langgraph';",
)
  .replace('() =>', '(_: unknown, config: unknown) =>')
  .replace('.compile()', '.compile({ checkpointer: new MemorySaver(), store: new InMemoryStore() })');

const files = {
  'package.json': { type: 'module' },
  'tsconfig.json': { extends: './missing.json' },
  'good.ts': replying('"hi"'),
  'agent.ts': `${replying('"from an agent"')}
class ReactAgent { #graph = graph; get graph() { return this.#graph; } invoke() {} }
export const agent = new ReactAgent();
export const makeAgent = async () => new ReactAgent();`,
  'own.ts': owning,
  'app/agent.mts': replying('"hi"'),
  'app/node_modules/@langchain/langgraph/package.json': { version: '0.2.3' },
  'inner.ts': `export const a = 1;\nthrow new Error('no such model');\n`,
  'throws.ts': `import './inner';\n${replying('"hi"')}`,
  'syntax.ts': `const graph = ;\n`,
  'package.ts': `// agents\nimport 'not-installed/agents';\n`,
  'missing.ts': `import './nowhere.ts';\n`,
  'other.ts': 'export const agent = 1;\n',
};
const loaded = {
  good: './good.ts:graph',
  agent: './agent.ts:agent',
  factory: './agent.ts:makeAgent',
  own: './own.ts:graph',
  versioned: './app/agent.mts:graph',
};
const failed = {
  throws: './throws.ts:graph',
  syntax: './syntax.ts:graph',
  package: './package.ts:graph',
  missing: './missing.ts:graph',
  other: './other.ts:graph',
};

describe('a server with graphs that are loaded, and graphs that cannot be loaded', () => {
  let folder: ProjectFolder;
  let server: RunningServer;
  const lines: { level: number; msg: string }[] = [];
  beforeAll(async () => {
    folder = createProjectFolder();
    folder.link('app/node_modules/@langchain/core', join(installed, '@langchain/core'));
    folder.write(files);
    server = await start(folder, { ...loaded, ...failed }, { lines, executors: 2 });
    await eventually(async () =>
      expect(await ready(server.url)).toMatchObject({ status: 200, body: { workers: 1 } }),
    );
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    folder?.[Symbol.dispose]();
  });

  const logged = (level: 'error' | 'warn'): string[] =>
    lines
      .filter((line) => line.level === pino.levels.values[level])
      .map(({ msg }) => msg)
      .toSorted();
  const warnings = (part: string): string[] => logged('warn').filter((msg) => msg.includes(part));

  it('names failed graphs in /ready, and logs each once with file, line, cause and remedy', async () => {
    const { status, body } = await ready(server.url);
    expect({ status, failed: (body['failed_graphs'] as string[]).toSorted() }).toEqual({
      status: 200,
      failed: Object.keys(failed).toSorted(),
    });
    const { dir } = folder;
    expect(logged('error')).toEqual([
      `Graph "missing" cannot be loaded: ${dir}/missing.ts: Cannot find module '${dir}/nowhere.ts' imported from ${dir}/missing.ts ` +
        `(${dir}/missing.ts:1). Create the file, or correct the import.`,
      `Graph "other": ${dir}/other.ts does not export graph; it exports agent. Name one of them after the colon`,
      `Graph "package" cannot be loaded: ${dir}/package.ts: Cannot find package 'not-installed' imported from ${dir}/package.ts ` +
        `(${dir}/package.ts:2). Install it (npm install not-installed), or add it to "paths" of tsconfig.json.`,
      `Graph "syntax" cannot be loaded: ${dir}/syntax.ts: Transform failed with 1 error:\n${dir}/syntax.ts:1:14: ERROR: Unexpected ";". ` +
        'Correct the syntax.',
      `Graph "throws" cannot be loaded: ${dir}/throws.ts: no such model (${dir}/inner.ts:2:7). The module throws while it is imported: correct it.`,
    ]);
    expect(await reply(server.url, 'good')).toEqual(['hi', 1]);
  });

  it('loads agents that have their graph under "graph", also from a factory', async () => {
    expect(await reply(server.url, 'agent')).toEqual(['from an agent', 1]);
    expect(await reply(server.url, 'factory')).toEqual(['from an agent', 1]);
  });

  it('replaces the checkpointer and store of a graph, and logs that once', async () => {
    expect(await reply(server.url, 'own')).toEqual([expect.not.stringContaining('InMemoryStore'), 1]);
    const notice = (part: string) =>
      `Graph "own" is compiled with a ${part} of its own, which is not used: svc stores threads and items in its database`;
    expect(warnings('Graph')).toEqual([notice('checkpointer'), notice('store')]);
  });

  it('runs graphs with its own engine, and logs that the project has another version, and what an old one breaks', async () => {
    expect(await reply(server.url, 'versioned')).toEqual(['hi', 1]);
    expect(warnings('@langchain')).toEqual([
      expect.stringMatching(
        /^The project has @langchain\/langgraph 0\.2\.3 in \S+; its graphs run with [\d.]+, the version .*"this\.bind is not a function".*Install/,
      ),
    ]);
  });

  it('loads graphs without a tsconfig.json that cannot be read, and logs that', async () => {
    expect(await reply(server.url, 'good')).toEqual(['hi', 1]);
    expect(warnings('tsconfig.json')).toEqual([expect.stringContaining('tsconfig.json cannot be read')]);
  });

  it('logs no other warning', () => {
    expect(logged('warn')).toHaveLength(4);
  });
});

describe('a server without a graph that can be loaded', () => {
  it('is not ready', async () => {
    using folder = createProjectFolder();
    folder.write({ 'bad.mjs': "throw new Error('no');" });
    await using server = await start(folder, { bad: './bad.mjs:graph' }, { lines: [], executors: 1 });
    await eventually(async () =>
      expect(await ready(server.url)).toMatchObject({
        status: 503,
        body: { message: 'No graph can be loaded (bad): the log has the reasons' },
      }),
    );
  });
});
