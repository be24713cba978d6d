// Sequences of random operations have the same results on the server as on the bare engine, also when executors are killed.
// SVC_TEST_SEQUENCES is their number; SVC_TEST_SEQUENCE_SEED repeats those of a seed.
import type { Client } from '@svc/sdk';
import { afterAll, beforeAll, describe, it } from 'vitest';
import type { TestServer } from '../server.ts';
import { scaled } from '../speed.ts';
import { checkSequences, graphNames, startSequenceServer } from './sequences/check-sequences.ts';

const total = Number(process.env['SVC_TEST_SEQUENCES'] ?? 2_000);
const seed = Number(process.env['SVC_TEST_SEQUENCE_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const perGraph = Math.ceil(total / graphNames.length);
/** A killed executor is replaced by another one, which takes as long as ten sequences. */
const withKills = Math.ceil(perGraph / 10);
const timeoutMs = scaled(60_000 + perGraph * 2_000);

let server: TestServer;
let client: Client;
beforeAll(async () => {
  ({ server, client } = await startSequenceServer());
});
afterAll(() => server[Symbol.asyncDispose]());

describe(`sequences of operations of seed ${seed}`, () => {
  it.each(graphNames)(
    'on the graph %s',
    (name) => checkSequences(client, name, { seed, count: perGraph - withKills, lengthMax: 6, kills: false }),
    timeoutMs,
  );

  it.each(graphNames)(
    'on the graph %s, with kills of executors',
    (name) => checkSequences(client, name, { seed, count: withKills, lengthMax: 4, kills: true }),
    timeoutMs,
  );
});
