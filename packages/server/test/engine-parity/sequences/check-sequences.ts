// Checks random sequences of operations on one graph.
import type { Client } from '@svc/sdk';
import fc from 'fast-check';
import type { GraphCase } from './cases.ts';
import { type Sequences, sequenceOf } from './operations.ts';
import { play } from './play.ts';

/** Failures are shrunk for no longer than this, so that the other graphs are tested too. */
const shrinkMs = 20_000;

/** Rejects with the shortest sequence that fails, its seed and its path. */
export const checkSequences = async (
  client: Client,
  [name, one]: [string, GraphCase],
  { seed, count, ...sequences }: Sequences & { seed: number; count: number },
): Promise<void> => {
  let failedAt: number | undefined;
  // With its bias, fast-check begins with short sequences.
  const property = fc.asyncProperty(fc.noBias(sequenceOf(one, sequences)), async (operations) => {
    if (failedAt !== undefined && performance.now() - failedAt > shrinkMs) return;
    try {
      await play(client, [name, one], operations);
    } catch (error) {
      failedAt ??= performance.now();
      throw error;
    }
  });
  await fc.assert(property, { seed, numRuns: count });
};
