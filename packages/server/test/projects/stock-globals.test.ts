// What the stock SDK finds inside of graphs: the server, and the configuration of default assistants.
import { join } from 'node:path';
import { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer, type RunningServer } from '../../src/app/server.ts';
import { loadSvcJson } from '../../src/config/project/svc-json.ts';
import { testSettings } from '../settings.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { testDatabase } from '../database.ts';
import { createProjectFolder } from './project-folder.ts';
import { graphDefaults, stockGlobalsFiles } from './stock-globals-project.ts';
import { fixture } from '../fixture.ts';

const folder = fixture(() => createProjectFolder());
const database = fixture(() => testDatabase());
let server: RunningServer;
let client: Client;
beforeAll(async () => {
  folder.write(stockGlobalsFiles);
  const config = folder.write({ 'svc.json': { graphs: { seen: './seen.ts:graph' } } });
  const settings = testSettings({ dataDir: join(folder.dir, '.svc'), databaseUri: database.uri });
  const project = loadSvcJson(config, { LANGGRAPH_CONFIG: JSON.stringify(graphDefaults) });
  server = await startServer({ settings, project, logger: createLogger(settings.log) });
  client = new Client({ apiUrl: server.url });
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
});

describe('a graph that uses the stock SDK', () => {
  it('reaches the server with a Client without URL', async () => {
    const state = (await client.runs.wait(null, 'seen', { input: { messages: [] } })) as {
      messages: { content: string }[];
    };
    expect(state.messages.map(({ content }) => JSON.parse(content) as unknown)).toEqual([
      [['seen'], 'small', 'kind'],
    ]);
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
