// A state of 20 MB, which is read in pages.
import { startTestServer } from '../server.ts';
import { testLongState } from './long-state.ts';
import { fixture } from '../fixture.ts';

const server = fixture(() => startTestServer());

testLongState(20_000, 1_000, () => server);
