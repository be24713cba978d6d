// Every response to requests that Schemathesis makes from the OpenAPI document is documented: its status, content type, headers and body.
// SVC_FUZZ_EXAMPLES is the number of requests of an operation; SVC_FUZZ_SEED repeats a sequence.
import { fileURLToPath } from 'node:url';
import { deploymentRoutes, type RouteShape } from '@svc/contract';
import { expect } from 'vitest';
import { scaled } from '../speed.ts';
import { startPlatform } from '../platform/platform-server.ts';
import { itWithSchemathesis, runSchemathesis } from './schemathesis.ts';

const examples = Number(process.env['SVC_FUZZ_EXAMPLES'] ?? 5);
const seed = Number(process.env['SVC_FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

/** The examples of the document are for this project. */
const project = fileURLToPath(new URL('../../../../examples/agent/svc.json', import.meta.url));

/** Streams that do not end by themselves, and handshakes of WebSockets. */
const endless = Object.entries<RouteShape>(deploymentRoutes)
  .filter(
    ([name, { kind }]) =>
      kind === 'socket' || /^(?:joinThreadStream|streamRunFeed|streamThreadEvents)$/.test(name),
  )
  .map(([name]) => name);

itWithSchemathesis(
  `up to ${examples} requests of each operation, of seed ${seed}, get documented responses`,
  async () => {
    await using platform = await startPlatform({}, { project, executors: 'ready' });
    const { server, key } = platform;
    const headers = { 'x-api-key': key };
    expect(await runSchemathesis(server.url, { examples, seed, headers, without: endless })).toBe('');
    expect((await server.call('GET', '/ok')).status).toBe(200);
  },
  scaled(600_000 + examples * 30_000),
);
