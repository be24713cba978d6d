// A state of 20 MB, which is read in pages.
import { afterAll, beforeAll } from 'vitest';
import { startTestServer, type TestServer } from '../server.ts';
import { testLongState } from './long-state.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server[Symbol.asyncDispose]());

testLongState(20_000, 1_000, () => server);
