// Threads for tests, made through the API.
import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@svc/sdk';

export interface Made {
  threadId: string;
  runId: string;
}

/** Runs to the end, whatever the outcome. */
export const run = async (
  client: Client,
  graph: string,
  input: Record<string, unknown>,
  metadata: Record<string, unknown> = {},
): Promise<Made> => {
  const { thread_id: threadId } = await client.threads.create({ graphId: graph, metadata });
  let runId = '';
  const options = { raiseError: false, onRunCreated: (made: Made) => (runId = made.runId) };
  await client.runs.wait(threadId, graph, { input: input as never, metadata }, options);
  return { threadId, runId };
};

export const says = (content: string) => ({ messages: [{ role: 'user', content }] });

/** A word at which the graph `patient` waits. */
export interface Gate extends AsyncDisposable {
  word: string;
  open: () => Promise<void>;
}

export const closedGate = (): Gate => {
  const word = `gate-${randomUUID()}`;
  const file = join(tmpdir(), word);
  return {
    word,
    open: () => writeFile(file, ''),
    [Symbol.asyncDispose]: () => rm(file, { force: true }),
  };
};
