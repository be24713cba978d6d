import { Client } from '@langchain/langgraph-sdk';
import { it } from 'vitest';
import { startTestServer } from '../server.ts';
import { readTokensAtOnce } from './tokens-at-once.ts';

it('a stream has every token of a model that never waits, in five rounds of runs that are executed at once', async () => {
  await using server = await startTestServer();
  await readTokensAtOnce(new Client({ apiUrl: server.url }), 5);
});
