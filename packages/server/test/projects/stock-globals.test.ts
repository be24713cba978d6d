// What the stock SDK finds inside of graphs: a logger, the server, and the configuration of default assistants.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client } from '@langchain/langgraph-sdk';
import { loadSvcJson } from '../../src/config/project/svc-json.ts';
import { type CliProcess, runCli } from '../cli/cli-process.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { createProjectFolder, type ProjectFolder, replying } from './project-folder.ts';

const defaults = {
  seen: { configurable: { model: 'small' }, recursion_limit: 7, context: { tone: 'kind' } },
};

let folder: ProjectFolder;
let database: TestDatabase;
let svc: CliProcess;
let client: Client;
beforeAll(async () => {
  folder = createProjectFolder();
  database = await testDatabase();
  folder.write({
    'package.json': { type: 'module' },
    'seen.ts': replying(
      'await see(config)',
      `import { Client } from '@langchain/langgraph-sdk';
import { getLogger } from '@langchain/langgraph-sdk/logging';
const logger = getLogger();
logger.info('imported', { a: 1 });
const client = new Client();
const see = async ({ configurable, context }) => {
  logger.warn(new Error('odd'));
  logger.error('in a node', { tries: 2 }).verbose('too quiet');
  const assistants = await client.assistants.search();
  return JSON.stringify([assistants.map(({ graph_id }) => graph_id), configurable.model, context.tone]);
};`,
    ).replace('() =>', 'async (_, config) =>'),
    'auth.ts': `
import { Auth } from '@langchain/langgraph-sdk/auth';
import { getLogger } from '@langchain/langgraph-sdk/logging';
const logger = getLogger();
export const auth = new Auth()
  .authenticate((request) => {
    logger.info('authenticates', { method: request.method });
    return 'ann';
  })
  .on('*', () => true);`,
    'svc.json': { graphs: { seen: './seen.ts:graph' }, auth: { path: './auth.ts:auth' } },
  });
  svc = runCli(['start', '--port', '0', '--data-dir', './data'], {
    cwd: folder.dir,
    env: {
      SVC_DATABASE_URI: database.uri,
      LANGGRAPH_CONFIG: JSON.stringify(defaults),
      SVC_LOG_FORMAT: 'json',
    },
  });
  const [, url = ''] = await svc.prints(/API +(http:\/\/\S+)/);
  client = new Client({ apiUrl: url });
});
afterAll(async () => {
  await svc?.[Symbol.asyncDispose]();
  await database?.[Symbol.asyncDispose]();
  folder?.[Symbol.dispose]();
});

describe('a graph that uses the stock SDK', () => {
  it('gets the logger at import, logs with the run and node, and reaches the server with a Client without URL', async () => {
    const thread = await client.threads.create();
    const state = (await client.runs.wait(thread.thread_id, 'seen', { input: { messages: [] } })) as {
      messages: { content: string }[];
    };
    expect(state.messages.map(({ content }) => JSON.parse(content) as unknown)).toEqual([
      [['seen'], 'small', 'kind'],
    ]);
    await svc.prints(/in a node/);
    const records = svc
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const find = (message: string) => records.find(({ msg }) => msg === message);
    expect(find('imported')).toMatchObject({ level: 30, a: 1, process: 'executor' });
    const place = { thread_id: thread.thread_id, langgraph_node: 'reply' };
    expect(find('in a node')).toMatchObject({ level: 50, tries: 2, ...place });
    expect(find('odd')).toMatchObject({ level: 40, err: { message: 'odd', type: 'Error' }, ...place });
    expect(find('too quiet')).toBeUndefined();
    expect(find('authenticates')).toMatchObject({ level: 30, method: 'POST', process: 'auth' });
  });
});

describe('LANGGRAPH_CONFIG', () => {
  it('is the config and the context of default assistants', async () => {
    expect(await client.assistants.search()).toMatchObject([
      {
        graph_id: 'seen',
        config: { configurable: { model: 'small' }, recursion_limit: 7 },
        context: { tone: 'kind' },
      },
    ]);
  });

  it.each([
    ['{', 'LANGGRAPH_CONFIG: is not JSON'],
    ['[]', 'LANGGRAPH_CONFIG: is not a map from graph ids to objects'],
    ['{"seen": 1}', 'LANGGRAPH_CONFIG: is not a map'],
    ['{"seem": {}}', 'LANGGRAPH_CONFIG: there is no graph "seem"; did you mean "seen"?'],
  ])('%s is a mistake', (text, message) => {
    expect(() => loadSvcJson(`${folder.dir}/svc.json`, { LANGGRAPH_CONFIG: text })).toThrow(message);
  });
});
