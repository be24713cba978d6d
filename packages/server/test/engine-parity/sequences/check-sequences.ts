// Checks random sequences of operations on one graph.
import { fileURLToPath } from 'node:url';
import { type Client, createClient } from '@svc/sdk';
import fc from 'fast-check';
import { startTestServer, type TestServer } from '../../server.ts';
import { cases } from './cases.ts';
import { type Sequences, sequenceOf } from './operations.ts';
import { play } from './play.ts';

export const graphNames = Object.keys(cases);

export const startSequenceServer = async (): Promise<{ server: TestServer; client: Client }> => {
  const server = await startTestServer({ project: fileURLToPath(new URL('./svc.json', import.meta.url)) });
  return { server, client: createClient({ apiUrl: server.url }) };
};

/** Failures are shrunk for no longer than this, so that the other graphs are tested too. */
const shrinkMs = 20_000;

/** Rejects with the shortest sequence that fails, its seed and its path. */
export const checkSequences = async (
  client: Client,
  name: string,
  { seed, count, ...sequences }: Sequences & { seed: number; count: number },
): Promise<void> => {
  const one = cases[name];
  if (!one) throw new Error(`No graph is named ${name}`);
  let failedAt: number | undefined;
  // With its bias, fast-check begins with short sequences.
  const property = fc.asyncProperty(fc.noBias(sequenceOf(one, sequences)), async (operations) => {
    if (failedAt !== undefined && performance.now() - failedAt > shrinkMs) return;
    try {
      await play(client, name, operations);
    } catch (error) {
      failedAt ??= performance.now();
      throw error;
    }
  });
  await fc.assert(property, { seed, numRuns: count });
};
