// Generated requests from the OpenAPI document, most of them invalid, to both APIs. No response may have an undocumented 5xx status.
// SVC_FUZZ_REQUESTS is their number; SVC_FUZZ_SEED repeats a sequence.
import { Agent } from 'node:http';
import { fileURLToPath } from 'node:url';
import { consoleRoutes, deploymentRoutes, openapiDocument, platformRoutes } from '@svc/contract';
import { describe, expect, it } from 'vitest';
import { Random } from '../faults/random.ts';
import { type PlatformServer, startPlatform } from '../platform/platform-server.ts';
import { KnownIds, makeRequest, type OpenApi, operationsOf } from './fuzz-requests.ts';
import { faultOf, sendRequest, toCommand } from './send-request.ts';

const count = Number(process.env['SVC_FUZZ_REQUESTS'] ?? 400);
const seed = Number(process.env['SVC_FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const clients = 6;
/** Each request has its own address. */
const settings = { trustedProxies: '127.0.0.1' };
/** How many failures are reported per test. */
const shownMax = 20;
const timeoutMs = 60_000 + count * 100;

const routes = { ...deploymentRoutes, ...platformRoutes, ...consoleRoutes };
const document = openapiDocument(routes, '0.1.0') as unknown as OpenApi;
const operations = operationsOf(document);

const fuzz = async ({ server, key }: PlatformServer, users: string[], random: Random): Promise<string[]> => {
  const ids = new KnownIds();
  const credentials = [
    { 'x-api-key': key },
    ...users.map((user) => ({ 'x-api-key': key, authorization: `Bearer ${user}` })),
  ];
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const faults = new Map<string, string>();
  let left = Math.ceil(count / 2);
  let limited = 0;
  const client = async (own: Random): Promise<void> => {
    while (left-- > 0 && faults.size < shownMax) {
      const request = makeRequest(own.pick(operations), { random: own, ids, credentials });
      // An address with many failed authentications would soon be rejected, whatever it sends.
      request.headers['x-forwarded-for'] = `198.51.${left % 251}.${left % 241}`;
      const answer = await sendRequest(server.url, request, agent);
      if (answer.status === 429) limited += 1;
      const fault = faultOf(request, answer);
      if (fault !== undefined && !faults.has(`${request.operation} ${fault}`))
        faults.set(
          `${request.operation} ${fault}`,
          `${fault}\n${toCommand(server.url, request)}\n${answer.text.slice(0, 500)}\n`,
        );
      if (answer.status === 200 && /json/.test(String(answer.headers['content-type']))) {
        try {
          ids.collect(JSON.parse(answer.text));
        } catch {
          // A stream that the client has left, or one that is too long.
        }
      }
    }
  };
  await Promise.all(Array.from({ length: clients }, () => client(random.fork())));
  agent.destroy();
  // Requests that rate limits reject reach no handler.
  if (limited > count / 20) faults.set('limited', `${limited} requests were refused with 429`);
  return [...faults.values()];
};

describe(`${count} requests of seed ${seed}`, () => {
  const random = new Random(seed);

  it(
    'get documented responses without authentication',
    async () => {
      await using platform = await startPlatform(settings, { executors: 'started' });
      expect((await fuzz(platform, [], random.fork())).join('\n')).toBe('');
      expect((await platform.server.call('GET', '/ok')).status).toBe(200);
    },
    timeoutMs,
  );

  it(
    'get documented responses with custom authentication',
    async () => {
      const project = fileURLToPath(new URL('../access/project/svc.json', import.meta.url));
      await using platform = await startPlatform(settings, { project, executors: 'started' });
      expect((await fuzz(platform, ['alice', 'bob'], random.fork())).join('\n')).toBe('');
      expect((await platform.server.call('GET', '/ok')).status).toBe(200);
    },
    timeoutMs,
  );
});
