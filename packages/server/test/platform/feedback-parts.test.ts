// Feedback that tracers send in the same request as runs.
import { randomUUID } from 'node:crypto';
import type { Feedback } from '@svc/contract';
import { Client } from 'langsmith';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { end, multipartType, part } from './multipart.ts';
import { startPlatform, type PlatformServer } from './platform-server.ts';

let platform: PlatformServer;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform[Symbol.asyncDispose]());

type Answer = { message: string; errors?: { id: string | null; message: string }[] };

const send = async (parts: [name: string, content: string][]): Promise<{ status: number; body: Answer }> => {
  const sent = Buffer.concat([
    ...parts.map(([name, content]) => part(name, content, 'application/json')),
    end,
  ]);
  const headers = { 'content-type': multipartType };
  const { status, body } = await platform.call('POST', '/runs/multipart', { body: sent, headers });
  return { status, body: body as Answer };
};

const stored = async (run: string): Promise<Feedback[]> =>
  (await platform.call('GET', `/feedback?run=${run}`)).body as Feedback[];

it('of the stock client, with the trace, is stored', async () => {
  const client = new Client({ apiUrl: platform.apiUrl, apiKey: platform.key });
  const run = randomUUID();
  const options = {
    traceId: run,
    sessionId: randomUUID(),
    score: true,
    comment: 'helpful',
    value: { n: [1] },
  };
  const { id } = await client.createFeedback(run, 'kind', options);
  await client.awaitPendingTraceBatches();
  expect(await stored(run)).toMatchObject([
    { id, key: 'kind', score: 1, comment: 'helpful', value: { n: [1] }, trace_id: run },
  ]);
});

it('is stored once when its request is repeated, also with a body that is parsed in a thread', async () => {
  const run = randomUUID();
  const id = randomUUID();
  const fill = JSON.stringify({
    id: randomUUID(),
    name: 'large',
    start_time: Date.now(),
    tags: ['x'.repeat(300_000)],
  });
  const large: [string, string] = [`post.${(JSON.parse(fill) as { id: string }).id}`, fill];
  const sent: [string, string] = [
    `feedback.${id}`,
    JSON.stringify({ id, run_id: run, key: 'kind', score: 0.5 }),
  ];
  expect(await send([large, sent])).toMatchObject({ status: 202 });
  expect(await send([sent])).toEqual({ status: 202, body: { message: 'Runs were taken in' } });
  expect(await stored(run)).toMatchObject([{ id, score: 0.5 }]);
});

it.each<[string, (id: string, run: string) => string, RegExp]>([
  ['is not JSON', () => '{', /not valid JSON/],
  ['is not an object', () => '7', /not an object/],
  [
    'has another id than its part',
    (_, run_id) => JSON.stringify({ id: randomUUID(), run_id, key: 'k' }),
    /its id does not equal/,
  ],
  ['has no run', () => '{"key": "k"}', /run_id/],
  ['has an unknown field', (_, run_id) => JSON.stringify({ run_id, key: 'k', scoer: 1 }), /scoer/],
  [
    'is nested too deep',
    (_, run_id) => `{"run_id": "${run_id}", "key": "k", "value": ${'['.repeat(5000)}${']'.repeat(5000)}}`,
    /nested/,
  ],
])('that %s is listed in the response, and the rest is stored', async (_, content, message) => {
  const run = randomUUID();
  const [bad, good] = [randomUUID(), randomUUID()];
  const valid = JSON.stringify({ run_id: run, key: 'valid' });
  const { status, body } = await send([
    [`feedback.${bad}`, content(bad, run)],
    [`feedback.${good}`, valid],
  ]);
  expect(status).toBe(202);
  expect(body.errors).toEqual([{ id: bad, message: expect.stringMatching(message) as string }]);
  expect(await stored(run)).toMatchObject([{ id: good, key: 'valid' }]);
});

it('cannot replace feedback on another run', async () => {
  const [id, run, other] = [randomUUID(), randomUUID(), randomUUID()];
  await send([[`feedback.${id}`, JSON.stringify({ run_id: run, key: 'first' })]]);
  const { status, body } = await send([[`feedback.${id}`, JSON.stringify({ run_id: other, key: 'second' })]]);
  expect([status, JSON.stringify(body)]).toEqual([422, expect.stringContaining('another run')]);
  expect(await stored(run)).toMatchObject([{ key: 'first' }]);
});

it('is limited in size', async () => {
  const run_id = randomUUID();
  const feedback = (comment: string): [string, string] => [
    `feedback.${randomUUID()}`,
    JSON.stringify({ run_id, key: 'k', comment }),
  ];
  const large = await send(Array.from({ length: 20 }, () => feedback('x'.repeat(60_000))));
  expect([large.status, large.body.errors?.length]).toEqual([202, 3]);
});
