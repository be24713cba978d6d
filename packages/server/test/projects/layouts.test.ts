// Layouts of projects: module formats, tsconfig.json, package managers, copies of the engine.
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../server.ts';
import { createProjectFolder, installed, type ProjectFolder, replying } from './project-folder.ts';

const helper = "export const helper = () => 'helped';";

/** A graph, its file, and the text that it replies with. */
const graphs: Record<string, { file: string; reply: string; files: Record<string, unknown> }> = {
  'TypeScript without "type"': {
    file: 'untyped/agent.ts',
    reply: 'helped',
    files: {
      'untyped/package.json': { name: 'untyped' },
      'untyped/helper.ts': helper,
      'untyped/agent.ts': replying('helper()', "import { helper } from './helper';"),
    },
  },
  'TypeScript without "type" that uses variables of CommonJS': {
    file: 'variables/agent.ts',
    reply: 'agent.ts function',
    files: {
      'variables/package.json': {},
      'variables/agent.ts': replying(
        '`${path.basename(__filename)} ${typeof require}`',
        "import path from 'node:path';",
      ),
    },
  },
  'TypeScript without "type" that imports names of a CommonJS package': {
    file: 'names/agent.ts',
    reply: 'greater',
    files: {
      'names/package.json': {},
      'names/vendor/computed/package.json': { type: 'commonjs', main: 'index.js' },
      'names/vendor/computed/index.js': "for (const name of ['gte']) exports[name] = () => 'greater';",
      'names/agent.ts': replying('gte()', "import { gte } from './vendor/computed';"),
    },
  },
  'TypeScript without "type" that uses top-level await': {
    file: 'await/agent.ts',
    reply: 'awaited helped',
    files: {
      'await/package.json': {},
      'await/inner.ts': `export const inner = await Promise.resolve('awaited');`,
      'await/helper.ts': helper,
      'await/agent.ts': replying(
        '`${inner} ${helper()}`',
        "import { inner } from './inner'; import { helper } from './helper.js';",
      ),
    },
  },
  'TypeScript with "type": "commonjs" and a tsconfig.json for CommonJS': {
    file: 'commonjs/src/agent.ts',
    reply: 'helped',
    files: {
      'commonjs/package.json': { type: 'commonjs' },
      'commonjs/tsconfig.json': {
        compilerOptions: { module: 'commonjs', moduleResolution: 'node', esModuleInterop: true },
      },
      'commonjs/src/helper/index.ts': helper,
      'commonjs/src/agent.ts': replying('helper()', "import { helper } from './helper';"),
    },
  },
  'JavaScript without "type" that is written with import': {
    file: 'javascript/agent.js',
    reply: 'helped',
    files: {
      'javascript/package.json': {},
      'javascript/helper.js': helper,
      'javascript/agent.js': replying('helper()', "import { helper } from './helper.js';"),
    },
  },
  'JavaScript that is written with require': {
    file: 'required/agent.js',
    reply: 'helped',
    files: {
      'required/package.json': {},
      'required/helper.ts': helper,
      'required/agent.js': replying('helper()', "const { helper } = require('./helper');")
        .replace(/import (.*) from (.*);/, 'const $1 = require($2);')
        .replace('export const graph =', 'exports.graph ='),
    },
  },
  'an .mts file': {
    file: 'mts/agent.mts',
    reply: 'helped',
    files: {
      'mts/package.json': {},
      'mts/helper.mts': helper,
      'mts/agent.mts': replying('helper()', "import { helper } from './helper.mjs';"),
    },
  },
  'a .cts file': {
    file: 'cts/agent.cts',
    reply: 'helped',
    files: {
      'cts/package.json': { type: 'module' },
      'cts/helper.cts': helper,
      'cts/agent.cts': replying('helper()', "import { helper } from './helper.cjs';"),
    },
  },
  'an ES module that imports a package of its workspace': {
    file: 'workspace/apps/agent/agent.ts',
    reply: 'helped',
    files: {
      'workspace/package.json': { workspaces: ['apps/*', 'packages/*'] },
      'workspace/packages/shared/package.json': { name: '@acme/shared', exports: './src/index.ts' },
      'workspace/packages/shared/src/index.ts': helper,
      'workspace/apps/agent/package.json': { type: 'module', dependencies: { '@acme/shared': '*' } },
      'workspace/apps/agent/agent.ts': replying('helper()', "import { helper } from '@acme/shared';"),
    },
  },
  'paths of the tsconfig.json of the project': {
    file: 'src/mapped.ts',
    reply: 'helped',
    files: {
      'tsconfig.json': { compilerOptions: { baseUrl: '.', paths: { '@lib/*': ['src/lib/*'] } } },
      'src/lib/helper.ts': helper,
      // The tests run in this folder.
      'elsewhere/tsconfig.json': { compilerOptions: { baseUrl: '.', paths: { '@lib/*': ['*'] } } },
      'elsewhere/helper.ts': "export const helper = () => 'helped by the working directory';",
      'src/mapped.ts': replying('helper()', "import { helper } from '@lib/helper';"),
    },
  },
};

let folder: ProjectFolder;
let server: TestServer;
/** The working directory of other tests. */
let before: string | undefined;

const runs = async (assistant_id: string): Promise<string> => {
  const { body } = await server.call('POST', '/runs/wait', { assistant_id, input: { messages: [] } });
  const { messages } = body as { messages?: { content: string }[] };
  return messages?.at(-1)?.content ?? JSON.stringify(body);
};

beforeAll(async () => {
  folder = createProjectFolder();
  const names = Object.keys(graphs);
  for (const { files } of Object.values(graphs)) folder.write(files);
  folder.link('workspace/node_modules/@acme/shared', 'workspace/packages/shared');
  folder.link('workspace/node_modules/@langchain', join(installed, '@langchain'));
  // pnpm: packages are links into a store, whose packages see only their own dependencies.
  const store = 'pnpm/node_modules/.pnpm';
  folder.link(`${store}/@langchain+langgraph@1/node_modules/@langchain`, join(installed, '@langchain'));
  folder.link('pnpm/node_modules/@langchain', `${store}/@langchain+langgraph@1/node_modules/@langchain`);
  folder.write({
    [`${store}/help@1/node_modules/help/package.json`]: { name: 'help', type: 'module', main: 'index.js' },
    [`${store}/help@1/node_modules/help/index.js`]: "export { helper } from 'deep';",
    [`${store}/deep@1/node_modules/deep/package.json`]: { name: 'deep' },
    [`${store}/deep@1/node_modules/deep/index.js`]: "exports.helper = () => 'helped';",
    'pnpm/package.json': { type: 'module' },
    'pnpm/agent.ts': replying('helper()', "import { helper } from 'help';"),
  });
  folder.link('pnpm/node_modules/help', `${store}/help@1/node_modules/help`);
  folder.link(`${store}/help@1/node_modules/deep`, `${store}/deep@1/node_modules/deep`);
  folder.write({
    'schemas/package.json': {},
    'schemas/agent.ts': `
import { StateGraph } from '@langchain/langgraph';
import { withLangGraph } from '@langchain/langgraph/zod';
import { z } from 'zod';
const State = z.object({ text: withLangGraph(z.string(), { jsonSchemaExtra: { langgraph_type: 'prompt' } }) });
export const graph = new StateGraph(State).addNode('a', () => ({})).addEdge('__start__', 'a').compile();`,
  });
  // The project has a copy of the engine, in another version.
  folder.write({ 'copies/package.json': { type: 'module' }, 'copies/agent.ts': replying('"hi"') });
  folder.link('copies/node_modules/@langchain/core', join(installed, '@langchain/core'));
  const copy = join(folder.dir, 'copies/node_modules/@langchain/langgraph');
  cpSync(join(installed, '@langchain/langgraph'), copy, { recursive: true });
  writeFileSync(join(copy, 'dist/index.js'), "throw new Error('the copy of the project was loaded');");
  folder.write({
    'src/app.ts': `
import { Hono } from 'hono';
import { helper } from '@lib/helper';
export const app = new Hono().get('/helped', (context) => context.text(helper()));`,
  });
  const config = folder.write({
    'svc.json': {
      http: { app: './src/app.ts:app' },
      graphs: Object.fromEntries([
        ...names.map((name, at) => [`graph-${at}`, `./${graphs[name]?.file}:graph`]),
        ['pnpm', './pnpm/agent.ts:graph'],
        ['copies', './copies/agent.ts:graph'],
        ['schemas', './schemas/agent.ts:graph'],
      ]) as Record<string, string>,
    },
  });
  before = process.cwd();
  process.chdir(join(folder.dir, 'elsewhere'));
  server = await startTestServer({ project: config });
});
afterAll(async () => {
  if (before !== undefined) process.chdir(before);
  await server?.[Symbol.asyncDispose]();
  folder?.[Symbol.dispose]();
});

describe('a project is served as it is', () => {
  it.each(Object.entries(graphs).map(([name, { reply }], at) => [name, `graph-${at}`, reply]))(
    '%s',
    async (_, graph, reply) => {
      expect(await runs(graph)).toBe(reply);
    },
  );

  it('a custom app that uses paths of the tsconfig.json of the project', async () => {
    expect((await server.call('GET', '/helped')).body).toBe('helped');
  });

  it('the schemas of a CommonJS project contain what it adds to them', async () => {
    const { body } = await server.call('GET', '/assistants/schemas/schemas');
    expect(body).toMatchObject({
      state_schema: { properties: { text: { type: 'string', langgraph_type: 'prompt' } } },
    });
  });

  it('packages that pnpm has installed', async () => {
    expect(await runs('pnpm')).toBe('helped');
  });

  it('a project with its own copy of the engine runs on that of the server', async () => {
    expect(await runs('copies')).toBe('hi');
  });
});
