// What graphs and handlers log with the logger of the stock SDK.
import { Client } from '@langchain/langgraph-sdk';
import { expect, it } from 'vitest';
import { runCli } from '../cli/cli-process.ts';
import { testDatabase } from '../database.ts';
import { createProjectFolder } from './project-folder.ts';
import { graphDefaults, stockGlobalsFiles } from './stock-globals-project.ts';

it('a graph gets the logger at import, and logs with the run and node', async () => {
  using folder = createProjectFolder();
  await using database = await testDatabase();
  folder.write({
    ...stockGlobalsFiles,
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
  await using svc = runCli(['start', '--port', '0', '--data-dir', './data'], {
    cwd: folder.dir,
    env: {
      SVC_DATABASE_URI: database.uri,
      LANGGRAPH_CONFIG: JSON.stringify(graphDefaults),
      SVC_LOG_FORMAT: 'json',
    },
  });
  const [, url = ''] = await svc.prints(/API +(http:\/\/\S+)/);
  const client = new Client({ apiUrl: url });
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
