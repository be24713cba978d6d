// Sequences of random operations have the same results on the server as on the bare engine, also when executors are killed.
import type { Client } from '@svc/sdk';
import { afterAll, beforeAll } from 'vitest';
import type { TestServer } from '../server.ts';
import { cases } from './sequences/cases.ts';
import { describeSequences } from './sequences/describe-sequences.ts';
import { testNamedSequences } from './sequences/named-sequences.ts';
import { startSequenceServer } from './sequences/sequence-server.ts';

let server: TestServer;
let client: Client;
beforeAll(async () => {
  ({ server, client } = await startSequenceServer());
});
afterAll(() => server[Symbol.asyncDispose]());

testNamedSequences({ kills: true, client: () => client });

describeSequences(cases, { client: () => client, usual: 2_000 });
