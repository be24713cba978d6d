// Invalid ingest requests: each gets a clear error, and the valid parts are stored.
import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { boundary, end, multipartType, part as partOf } from './multipart.ts';
import { startPlatform, type PlatformServer } from './platform-server.ts';
import { fixture } from '../fixture.ts';
import { sentRun } from './trace-write.ts';

const platform = fixture(() => startPlatform({ ingestBytesMax: 4_194_304 }));

type Answer = { message: string; errors?: { id: string | null; message: string }[] };

const part = (name: string, content: string | Buffer): Buffer => partOf(name, content, 'application/json');

const send = (body: Buffer, headers: Record<string, string> = {}): ReturnType<PlatformServer['call']> =>
  platform.call('POST', '/runs/multipart', {
    body,
    headers: { 'content-type': multipartType, ...headers },
  });

const run = (id: string, more: object = {}): string => JSON.stringify(sentRun(id, more));

const statusOf = async (id: string): Promise<number> => (await platform.call('GET', `/runs/${id}`)).status;

describe('a batch with an invalid run', () => {
  const other = randomUUID();
  it.each<[string, (id: string) => [string, string][], RegExp]>([
    [
      'an id that dotted_order does not end with',
      (id) => [[`post.${id}`, run(id, { dotted_order: `20261121T080000000000Z${other}`, trace_id: other })]],
      /dotted_order does not end with its id/,
    ],
    [
      'a trace that dotted_order does not begin with',
      (id) => [[`post.${id}`, run(id, { trace_id: other })]],
      /begin with its trace_id/,
    ],
    [
      'a parent that dotted_order does not name',
      (id) => [[`post.${id}`, run(id, { parent_run_id: other })]],
      /contradicts its parent_run_id/,
    ],
    [
      'an invalid dotted_order',
      (id) => [[`post.${id}`, run(id, { dotted_order: 'abc' })]],
      /is not a list of start times/,
    ],
    [
      'another id than its part',
      (id) => [[`post.${id}`, run(other)]],
      /does not equal the id in the name of its part/,
    ],
    ['no UUID', (id) => [[`post.x${id.slice(1)}`, run(`x${id.slice(1)}`)]], /id is not a UUID/],
    ['an invalid time', (id) => [[`post.${id}`, run(id, { end_time: 'soon' })]], /end_time is not a time/],
    ['invalid JSON', (id) => [[`post.${id}`, '{"id":']], /not valid JSON/],
    ['tags that are numbers', (id) => [[`post.${id}`, run(id, { tags: [1] })]], /tags is not a list/],
    ['an unknown part', (id) => [[`post.${id}.secrets`, '1']], /is not known/],
  ])('reports the run with %s and stores the others', async (_, bad, message) => {
    const [good, id] = [randomUUID(), randomUUID()];
    const parts = bad(id).map(([name, content]) => part(name, content));
    const { status, body } = await send(Buffer.concat([...parts, part(`post.${good}`, run(good)), end]));
    const { errors } = body as Answer;
    expect(status).toBe(202);
    expect(errors).toHaveLength(1);
    expect(errors?.[0]?.message).toMatch(message);
    expect([await statusOf(good), await statusOf(id)]).toEqual([200, 404]);
  });

  it('reports the run that has a part of the wrong length', async () => {
    const [good, id] = [randomUUID(), randomUUID()];
    const wrong = `--${boundary}\r\nContent-Disposition: form-data; name="post.${id}"\r\nContent-Length: 5\r\n\r\n${run(id)}\r\n`;
    const { body } = await send(Buffer.concat([Buffer.from(wrong), part(`post.${good}`, run(good)), end]));
    expect((body as Answer).errors?.[0]?.message).toMatch(/not 5 as its Content-Length says/);
    expect([await statusOf(good), await statusOf(id)]).toEqual([200, 404]);
  });

  it('returns 422 when none of its runs can be stored', async () => {
    const { status, body } = await send(Buffer.concat([part('post.x', '{}'), end]));
    expect(status).toBe(422);
    expect(body).toMatchObject({ detail: [{ loc: ['body', 'x'], msg: 'id is not a UUID' }] });
  });

  it('loses only the run whose part is cut off', async () => {
    const [whole, cut] = [randomUUID(), randomUUID()];
    const bytes = Buffer.concat([
      part(`post.${whole}`, run(whole)),
      part(`post.${cut}`, run(cut)),
      part(`post.${cut}.inputs`, `{"a":"${'x'.repeat(1_000)}"}`).subarray(0, 500),
    ]);
    const { status, body } = await send(bytes);
    expect(status).toBe(202);
    expect((body as Answer).errors).toEqual([
      { id: cut, message: expect.stringMatching(/the body ends in the part/) as string },
    ]);
    expect([await statusOf(whole), await statusOf(cut)]).toEqual([200, 404]);
  });
});

describe('a payload that cannot be read', () => {
  const brackets = '['.repeat(1e6);
  it.each<[string, string | Buffer, string, object]>([
    ['inputs', '{"a"}', 'is not valid JSON', { inputs: { input: '{"a"}' } }],
    ['inputs', '', 'is not valid JSON', { inputs: { input: '' } }],
    ['inputs', brackets, 'nested deeper', { inputs: { input: brackets } }],
    ['outputs', '{"a": NaN}', 'is not valid JSON', { outputs: { output: '{"a": NaN}' } }],
    [
      'outputs',
      '[unable to serialize outputs]',
      'is not valid JSON',
      { outputs: { output: '[unable to serialize outputs]' } },
    ],
    ['outputs', Buffer.from([0xff, 0x41]), 'is not valid UTF-8', { outputs: { output: '\u{fffd}A' } }],
    ['error', 'Error: no', 'is not valid JSON', { error: 'Error: no', status: 'error' }],
    ['events', '[NaN]', 'is not valid JSON', { events: [{ name: 'event', value: '[NaN]' }] }],
    ['serialized', 'x', 'is not valid JSON', { serialized: { value: 'x' } }],
    ['extra', 'Infinity', 'is not valid JSON', { extra: { value: 'Infinity' } }],
  ])('is stored as text, and named: %s %#', async (field, content, reason, expected) => {
    const id = randomUUID();
    const patch = JSON.stringify({ id, end_time: '2026-11-21T08:00:01Z' });
    await send(Buffer.concat([part(`post.${id}`, run(id)), end]));
    const { status, body } = await send(
      Buffer.concat([part(`patch.${id}`, patch), part(`patch.${id}.${field}`, content), end]),
    );
    expect(status).toBe(202);
    const { message, errors } = body as Answer;
    expect(message).toBe('Runs were taken in; some of their payloads as text');
    expect(errors).toHaveLength(1);
    expect(errors?.[0]?.id).toBe(id);
    expect(errors?.[0]?.message).toContain(`${field} `);
    expect(errors?.[0]?.message).toContain(reason);
    expect(errors?.[0]?.message).toMatch(/; it is stored as text$/);
    const { body: stored } = await platform.call('GET', `/runs/${id}`);
    expect(stored).toMatchObject({ status: 'success', ...expected });
  });

  it.each<[object, object]>([
    [{ extra: [1] }, { extra: { value: [1] } }],
    [{ extra: { metadata: 'm', runtime: 'r' } }, { extra: { metadata: { value: 'm' }, runtime: 'r' } }],
    [
      { inputs: 'text', outputs: [1] },
      { inputs: { input: 'text' }, outputs: { output: [1] } },
    ],
  ])('has the type that clients require: %j', async (sent, expected) => {
    const id = randomUUID();
    expect((await send(Buffer.concat([part(`post.${id}`, run(id, sent)), end]))).status).toBe(202);
    expect((await platform.call('GET', `/runs/${id}`)).body).toMatchObject(expected);
  });
});

describe('an unusual run', () => {
  it.each(['1970-01-01T00:00:00Z', '2100-12-31T23:59:59.999999Z', '0001-01-01T00:00:00Z', 0])(
    'with the start time %s is stored and found',
    async (start_time) => {
      const id = randomUUID();
      const { status } = await platform.call('POST', '/runs', {
        json: { id, start_time, session_name: 'odd', name: 'x' },
      });
      expect(status).toBe(202);
      const { body } = await platform.call('GET', `/runs/${id}`);
      const { session_id } = body as { session_id: string };
      const all: string[] = [];
      for (let cursor: string | null = null; ;) {
        const page = await platform.call('POST', '/runs/query', {
          json: { session: [session_id], limit: 1, cursor },
        });
        const { runs, cursors } = page.body as { runs: { id: string }[]; cursors: { next: string | null } };
        all.push(...runs.map((one) => one.id));
        if ((cursor = cursors.next) === null) break;
      }
      expect(all).toContain(id);
      expect(new Set(all).size).toBe(all.length);
    },
  );

  it('has up to 3 MB of inputs', async () => {
    const id = randomUUID();
    const inputs = { text: 'x'.repeat(3_000_000) };
    const { status } = await send(
      Buffer.concat([part(`post.${id}`, run(id)), part(`post.${id}.inputs`, JSON.stringify(inputs)), end]),
    );
    expect(status).toBe(202);
    const { body } = await platform.call('GET', `/runs/${id}`);
    expect((body as { inputs: { text: string } }).inputs.text).toHaveLength(3_000_000);
  });

  it('keeps numbers, texts and keys as they were sent', async () => {
    const id = randomUUID();
    const inputs =
      '{"big":12345678901234567890123,"exact":1.10,"nul":"\\u0000","half":"\\ud800","__proto__":{"x":1}, "x":1,"x":2}';
    await send(Buffer.concat([part(`post.${id}`, run(id)), part(`post.${id}.inputs`, inputs), end]));
    const response = await fetch(`${platform.apiUrl}/runs/${id}`, { headers: { 'x-api-key': platform.key } });
    expect(await response.text()).toContain(`"inputs":${inputs}`);
  });

  it('keeps metadata that is too long to be searched', async () => {
    const id = randomUUID();
    const extra = {
      runtime: 'r',
      metadata: { thread_id: 't', long: 'y'.repeat(100_000), many: Array.from({ length: 5_000 }, String) },
    };
    await send(
      Buffer.concat([part(`post.${id}`, run(id)), part(`post.${id}.extra`, JSON.stringify(extra)), end]),
    );
    expect((await platform.call('GET', `/runs/${id}`)).body).toMatchObject({ extra, thread_id: 't' });
  });

  it('is accepted with its parts in any order, also with the patch first', async () => {
    const id = randomUUID();
    await send(
      Buffer.concat([
        part(`patch.${id}.outputs`, '{"b":2}'),
        part(`patch.${id}`, JSON.stringify({ id, end_time: 1_795_205_100_120 })),
        end,
      ]),
    );
    expect((await platform.call('GET', `/runs/${id}`)).body).toMatchObject({
      status: 'success',
      start_time: '2026-11-20T20:05:00.120000Z',
    });
    await send(Buffer.concat([part(`post.${id}.inputs`, '{"a":1}'), part(`post.${id}`, run(id)), end]));
    expect((await platform.call('GET', `/runs/${id}`)).body).toMatchObject({
      inputs: { a: 1 },
      outputs: { b: 2 },
      start_time: '2026-11-21T08:00:00.000000Z',
      status: 'success',
    });
  });
});

describe('a body', () => {
  it('that is not multipart is rejected', async () => {
    expect(await send(Buffer.from('hello'))).toMatchObject({ status: 422 });
    expect(await send(end, { 'content-type': 'multipart/form-data' })).toMatchObject({ status: 400 });
    expect(await send(end, { 'content-type': 'application/json' })).toMatchObject({ status: 415 });
    expect(await send(end, { 'content-encoding': 'br' })).toMatchObject({ status: 415 });
  });

  it('that is empty stores nothing', async () => {
    expect(await send(end)).toMatchObject({ status: 202 });
    expect(await platform.call('POST', '/runs/batch', { json: {} })).toMatchObject({ status: 202 });
  });

  it('that decompresses to more than the limit is rejected, and the server keeps serving', async () => {
    const bomb = gzipSync(Buffer.alloc(20_000_000));
    expect(bomb.length).toBeLessThan(100_000);
    expect(await send(bomb, { 'content-encoding': 'gzip' })).toMatchObject({
      status: 413,
      body: { code: 'too_large' },
    });
    const deflated = deflateSync(Buffer.alloc(20_000_000));
    expect(await send(deflated, { 'content-encoding': 'deflate' })).toMatchObject({ status: 413 });
    expect(await send(Buffer.from('no'), { 'content-encoding': 'deflate' })).toMatchObject({ status: 400 });
    expect(await platform.call('GET', '/info', { key: null })).toMatchObject({ status: 200 });
  });

  it('that is larger than the limit is rejected', async () => {
    expect(await send(Buffer.alloc(4_300_000))).toMatchObject({ status: 413 });
  });

  it('that is invalid gzip is rejected', async () => {
    const bytes = gzipSync(Buffer.concat([part(`post.${randomUUID()}`, '{}'), end]));
    for (const broken of [bytes.subarray(0, -10), Buffer.from('not gzip at all')])
      expect(await send(broken, { 'content-encoding': 'gzip' })).toMatchObject({ status: 400 });
  });

  it('that the client aborts stores nothing', async () => {
    const id = randomUUID();
    const { hostname, port } = new URL(platform.apiUrl);
    const sending = request({
      hostname,
      port,
      path: '/api/v1/runs/multipart',
      method: 'POST',
      headers: {
        'x-api-key': platform.key,
        'content-type': multipartType,
        'content-length': '100000',
      },
    });
    const failed = new Promise((resolve) => sending.once('error', resolve));
    sending.write(part(`post.${id}`, run(id)), () => sending.destroy(new Error('aborted')));
    await failed;
    expect(await statusOf(id)).toBe(404);
  });

  it.each([
    ['POST', '/runs', 'null', 422],
    ['POST', '/runs', '{"id":1}', 422],
    ['POST', '/runs', '{', 400],
    ['POST', '/runs/batch', '{"post":{}}', 422],
    ['POST', '/runs/batch', '{"post":[1]}', 422],
    ['PATCH', '/runs/x', '{}', 422],
    ['PATCH', `/runs/${randomUUID()}`, `{"id":"${randomUUID()}"}`, 422],
    ['GET', '/runs/x', undefined, 422],
    ['GET', `/runs/${randomUUID()}`, undefined, 404],
    ['POST', '/runs/query', '{"limit":0}', 422],
    ['POST', '/runs/query', '{"cursor":"abc"}', 422],
    ['POST', '/sessions', '{}', 422],
    ['GET', '/sessions?limit=0', undefined, 422],
    ['DELETE', '/runs/x', undefined, 405],
  ])('%s %s %s returns %d', async (method, path, body, status) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await platform.call(method, path, body === undefined ? {} : { body, headers });
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({
      code: expect.any(String) as string,
      message: expect.any(String) as string,
    });
  });
});
