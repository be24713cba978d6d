// Short sequences of random operations have the same results on the server as on the bare engine. The sequences are the same each time, so
// that a change that breaks one is found by its author; differential.slow.test.ts makes others.
import type { Client } from '@svc/sdk';
import { afterAll, beforeAll, it } from 'vitest';
import type { TestServer } from '../server.ts';
import { cases } from './sequences/cases.ts';
import { checkSequences } from './sequences/check-sequences.ts';
import { testNamedSequences } from './sequences/named-sequences.ts';
import { startSequenceServer } from './sequences/sequence-server.ts';

let server: TestServer;
let client: Client;
beforeAll(async () => {
  ({ server, client } = await startSequenceServer());
});
afterAll(() => server[Symbol.asyncDispose]());

it.each(Object.entries(cases).map(([name, one], seed) => ({ name, one, seed })))(
  'sequences of operations on the graph $name',
  ({ name, one, seed }) =>
    checkSequences(client, [name, one], { seed, count: 5, lengthMax: 4, kills: false }),
);

testNamedSequences({ kills: false, client: () => client });
