// Feedback that tracers send in the same request as runs.
import { randomUUID } from 'node:crypto';
import type { Feedback, NewApiKey } from '@svc/contract';
import { Client } from 'langsmith';
import { describe, expect, it } from 'vitest';
import { fixture } from '../fixture.ts';
import { end, multipartType, part } from './multipart.ts';
import { startPlatform } from './platform-server.ts';

const platform = fixture(() => startPlatform());

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

// Links for feedback, as the stock client creates them and a browser uses them.

const client = fixture(() => new Client({ apiUrl: platform.apiUrl, apiKey: platform.key }));

const feedbackOn = async (run: string): Promise<Feedback[]> =>
  (await platform.call('GET', `/feedback?run=${run}`)).body as Feedback[];

const use = (url: string, json: object): Promise<Response> =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(json) });

describe('a link for feedback', () => {
  it('accepts feedback without a key, once or again', async () => {
    const run = randomUUID();
    const token = await client.createPresignedFeedbackToken(run, 'helpful');
    expect(Date.parse(token.expires_at) - Date.now()).toBeLessThanOrEqual(3 * 3_600_000);
    expect((await use(token.url, { score: true })).status).toBe(204);
    expect((await use(token.url, { score: 0, comment: 'no', metadata: { page: '/' } })).status).toBe(204);
    const given = await feedbackOn(run);
    expect(given).toMatchObject([
      {
        key: 'helpful',
        score: 0,
        comment: 'no',
        feedback_source: { type: 'presigned', metadata: { page: '/' } },
      },
    ]);
    expect(given[0]?.id).not.toBe(token.id);
    const listed: unknown[] = [];
    for await (const one of client.listPresignedFeedbackTokens(run)) listed.push(one);
    expect(listed).toEqual([token]);
  });

  it('has the id that the client chose, also when the request is repeated', async () => {
    const json = { id: randomUUID(), run_id: randomUUID(), feedback_key: 'k', feedback_config: null };
    const create = () => platform.call('POST', '/feedback/tokens', { json });
    const first = await create();
    expect(first).toMatchObject({ status: 200, body: { id: json.id } });
    expect((await create()).body).toEqual(first.body);
    const other = { ...json, run_id: randomUUID() };
    expect(await platform.call('POST', '/feedback/tokens', { json: other })).toMatchObject({ status: 409 });
  });

  it('is created in a list of links', async () => {
    const run_id = randomUUID();
    const expires_in = { days: 0, hours: 3, minutes: 0 };
    const json = ['a', 'b'].map((feedback_key) => ({
      run_id,
      feedback_key,
      feedback_config: null,
      expires_in,
      expires_at: null,
    }));
    const { status, body } = await platform.call('POST', '/feedback/tokens', { json });
    expect(status).toBe(200);
    const urls = (body as { url: string }[]).map(({ url }) => url);
    expect(urls).toHaveLength(2);
    for (const url of urls) expect((await use(url, { score: 1 })).status).toBe(204);
    expect((await feedbackOn(run_id)).map(({ key }) => key).toSorted()).toEqual(['a', 'b']);
    const misspelled = await platform.call('POST', '/feedback/tokens', {
      json: [{ run_id, feedback_key: 'a', feedback_keys: [] }],
    });
    expect(misspelled.body).toMatchObject({ message: expect.stringContaining('unknown key') as string });
  });

  it('accepts feedback by GET, as from an e-mail', async () => {
    const run = randomUUID();
    const { url } = await client.createPresignedFeedbackToken(run, 'helpful');
    expect((await fetch(`${url}?score=no`)).status).toBe(422);
    expect((await fetch(`${url}?score=0.5&comment=fine&value=v`)).status).toBe(204);
    expect(await feedbackOn(run)).toMatchObject([{ score: 0.5, comment: 'fine', value: 'v' }]);
    expect((await fetch(`${url}?score=true`)).status).toBe(204);
    expect(await feedbackOn(run)).toMatchObject([{ score: 1, comment: null }]);
    await fetch(`${url}?score=0`, { method: 'HEAD' });
    expect(await feedbackOn(run)).toMatchObject([{ score: 1 }]);
  });

  it('has the path before all routes of the server', async () => {
    await using mounted = await startPlatform({ mountPrefix: '/agents' });
    const tracer = new Client({ apiUrl: mounted.apiUrl, apiKey: mounted.key });
    const { url } = await tracer.createPresignedFeedbackToken(randomUUID(), 'helpful');
    expect(url.startsWith(`${mounted.server.url}/api/`)).toBe(true);
    expect((await use(url, { score: 1 })).status).toBe(204);
  });

  it('is 404 when it has expired or never existed', async () => {
    const run = randomUUID();
    const token = await client.createPresignedFeedbackToken(run, 'helpful', { expiration: { minutes: 1 } });
    const { database } = platform.server;
    const text = 'update feedback_tokens set expires_at = now() where id = $1';
    await database.query({ name: 'expire', text }, [token.id]);
    expect((await use(token.url, { score: 1 })).status).toBe(404);
    expect((await use(token.url.replace(token.id, randomUUID()), { score: 1 })).status).toBe(404);
    expect(await feedbackOn(run)).toEqual([]);
    await client.createPresignedFeedbackToken(run, 'helpful');
    const left = { name: 'left', text: 'select id from feedback_tokens where id = $1' };
    expect(await database.query(left, [token.id])).toEqual([]);
  });

  it('expires within a year, and is listed only to keys that may write', async () => {
    const body = { run_id: randomUUID(), feedback_key: 'k' };
    const status = async (more: object): Promise<number> =>
      (await platform.call('POST', '/feedback/tokens', { json: { ...body, ...more } })).status;
    expect(await status({ expires_in: { days: 366 } })).toBe(422);
    expect(await status({ expires_in: { days: 365, hours: 1 } })).toBe(422);
    expect(await status({ expires_in: {} })).toBe(422);
    expect(await status({ expires_at: '2020-01-01T00:00:00Z' })).toBe(422);
    const { body: made } = await platform.call('POST', '/api-key', { json: { role: 'viewer' } });
    const { key } = made as NewApiKey;
    expect((await platform.call('GET', `/feedback/tokens?run_id=${body.run_id}`, { key })).status).toBe(403);
    expect((await platform.call('POST', '/feedback/tokens', { key, json: body })).status).toBe(403);
  });
});
