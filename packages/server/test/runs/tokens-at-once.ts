// Runs of a model that never waits, which are executed at once.
import type { Client } from '@langchain/langgraph-sdk';
import { expect } from 'vitest';
import { chatInput } from '../chat-input.ts';

const runsAtOnce = 20;

const tokensOfRun = async (client: Client): Promise<string[]> => {
  const tokens: string[] = [];
  const stream = client.runs.stream(null, 'metered', {
    input: chatInput('hello'),
    streamMode: ['messages-tuple'],
  });
  for await (const { event, data } of stream) if (event === 'messages') tokens.push(String(data[0].content));
  return tokens;
};

/** Expects that the stream of each run has every token. */
export const readTokensAtOnce = async (client: Client, rounds: number): Promise<void> => {
  for (let round = 0; round < rounds; round++) {
    const runs = await Promise.all(Array.from({ length: runsAtOnce }, () => tokensOfRun(client)));
    for (const tokens of runs) expect(tokens.slice(0, 3)).toEqual(['it ', 'rains ', 'today']);
  }
};
