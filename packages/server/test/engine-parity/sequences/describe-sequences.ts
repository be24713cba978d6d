// Tests of random sequences on each graph of a project, also when executors are killed.
// SVC_TEST_SEQUENCES is the number of sequences; SVC_TEST_SEQUENCE_SEED repeats those of a seed.
import type { Client } from '@svc/sdk';
import { describe, it } from 'vitest';
import { scaled } from '../../speed.ts';
import type { GraphCase } from './cases.ts';
import { checkSequences } from './check-sequences.ts';

const seed = Number(process.env['SVC_TEST_SEQUENCE_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

/** `client` is called when the server has started. */
export const describeSequences = (
  cases: Record<string, GraphCase>,
  { client, usual }: { client: () => Client; usual: number },
): void => {
  const graphs = Object.entries(cases);
  const total = Number(process.env['SVC_TEST_SEQUENCES'] ?? usual);
  const perGraph = Math.ceil(total / graphs.length);
  /** A killed executor is replaced by another one, which takes as long as ten sequences. */
  const withKills = Math.ceil(perGraph / 10);
  const timeoutMs = scaled(60_000 + perGraph * 2_000);

  describe(`sequences of operations of seed ${seed}`, () => {
    it.each(graphs)(
      'on the graph %s',
      (...graph) =>
        checkSequences(client(), graph, { seed, count: perGraph - withKills, lengthMax: 6, kills: false }),
      timeoutMs,
    );

    it.each(graphs)(
      'on the graph %s, with kills of executors',
      (...graph) => checkSequences(client(), graph, { seed, count: withKills, lengthMax: 4, kills: true }),
      timeoutMs,
    );
  });
};
