// A graph that uses what the stock SDK gives to graphs: a logger, and a client of the server.
import { replying } from './project-folder.ts';

/** For LANGGRAPH_CONFIG. */
export const graphDefaults = {
  seen: { configurable: { model: 'small' }, recursion_limit: 7, context: { tone: 'kind' } },
};

/** Its graph `seen` replies with the graphs of the server, and with the config and context of the run. */
export const stockGlobalsFiles: Record<string, unknown> = {
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
};
