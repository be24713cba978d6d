// Bodies whose cost exceeds their size: rejected at a named limit, or parsed in a thread; and large bodies, which are accepted.
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { describe, expect, it } from 'vitest';
import { end, multipartType, part } from '../platform/multipart.ts';
import { type PlatformServer, startPlatform } from '../platform/platform-server.ts';
import { fixture } from '../fixture.ts';
import { sentRun } from '../platform/trace-write.ts';

const platform = fixture(() =>
  startPlatform({ ingestValuesMax: 100_000, ingestKeysMax: 50_000 }, { executors: 'started' }),
);

type Sent = ReturnType<PlatformServer['call']>;

const deployment = (method: string, path: string, body: string): Promise<{ status: number; text: string }> =>
  fetch(platform.server.url + path, { method, headers: { 'content-type': 'application/json' }, body }).then(
    async (response) => ({ status: response.status, text: await response.text() }),
  );

const multipart = (parts: Buffer[], headers: Record<string, string> = {}): Sent =>
  platform.call('POST', '/runs/multipart', {
    body: Buffer.concat([...parts, end]),
    headers: { 'content-type': multipartType, ...headers },
  });
const batch = (body: Buffer | string, headers: Record<string, string> = {}): Sent =>
  platform.call('POST', '/runs/batch', { body, headers: { 'content-type': 'application/json', ...headers } });

const emptyObjects = (count: number): string => `[${'{},'.repeat(count - 1)}{}]`;

describe('a body of traces is rejected', () => {
  const tooLarge = (setting: string): object => ({
    status: 413,
    body: { code: 'too_large', message: expect.stringContaining(setting) as string },
  });

  it('when it is a gzip of 1 kB that unpacks to 100,000 objects', async () => {
    const bomb = gzipSync(`{"a":${emptyObjects(100_001)}}`);
    expect(bomb.length).toBeLessThan(1_000);
    expect(await batch(bomb, { 'content-encoding': 'gzip' })).toMatchObject(
      tooLarge('more than 100000 JSON values'),
    );
  });

  it('when one part is such a gzip', async () => {
    const id = randomUUID();
    const parts = [
      part(`post.${id}`, JSON.stringify(sentRun(id))),
      part(`post.${id}.inputs`, emptyObjects(100_001)),
    ];
    expect(await multipart(parts)).toMatchObject(tooLarge('more than 100000 JSON values'));
  });

  it('when many parts together exceed the limit', async () => {
    const ids = Array.from({ length: 3 }, () => randomUUID());
    const keys = `{${Array.from({ length: 20_000 }, (_, at) => `"k${at}":1`).join(',')}}`;
    const parts = ids.flatMap((id) => [
      part(`post.${id}`, JSON.stringify(sentRun(id))),
      part(`post.${id}.outputs`, keys),
    ]);
    expect(await multipart(parts)).toMatchObject(tooLarge('more than 50000 JSON keys'));
  });

  it('when a span has an attribute with JSON of too many values', async () => {
    const attributes = [{ key: 'input.value', value: { stringValue: emptyObjects(100_001) } }];
    const span = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), startTimeUnixNano: '1', attributes };
    const json = { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] };
    expect(await platform.call('POST', '/otel/v1/traces', { json })).toMatchObject(
      tooLarge('more than 100000 JSON values'),
    );
  });

  it('when a resource is repeated for each of its spans', async () => {
    const resource = { attributes: [{ key: 'a', value: { stringValue: 'x'.repeat(200_000) } }] };
    const spans = Array.from({ length: 250 }, (_, at) => ({
      traceId: 'a'.repeat(32),
      spanId: (at + 1).toString(16).padStart(16, '0'),
      startTimeUnixNano: '1',
    }));
    const json = { resourceSpans: [{ resource, scopeSpans: [{ spans }] }] };
    expect(await platform.call('POST', '/otel/v1/traces', { json })).toMatchObject(
      tooLarge('repeated for many others'),
    );
  });

  it('when it is protobuf with 60,000 empty attributes', async () => {
    const nested = (field: number, bytes: Uint8Array): Uint8Array =>
      new BinaryWriter().tag(field, WireType.LengthDelimited).bytes(bytes).finish();
    const attribute = nested(9, new Uint8Array([18, 0]));
    const attributes = Buffer.alloc(60_000 * attribute.length, attribute);
    const body = Buffer.from(nested(1, nested(2, nested(2, attributes))));
    const headers = { 'content-type': 'application/x-protobuf' };
    expect(await platform.call('POST', '/otel/v1/traces', { body, headers })).toMatchObject(
      tooLarge('more than 100000 JSON values'),
    );
  });

  it('when it has more runs than are stored at once', async () => {
    const post = Array.from({ length: 20_001 }, () => ({ id: randomUUID() }));
    expect(await batch(JSON.stringify({ post }))).toMatchObject({
      status: 413,
      body: { message: expect.stringContaining('20000 runs') as string },
    });
  });

  it.each(['gzip, gzip', 'gzip,zstd', 'compress', 'br', 'identity, gzip'])(
    'with the content coding %s',
    async (coding) => {
      const body = gzipSync(gzipSync('{}'));
      expect(await batch(body, { 'content-encoding': coding })).toMatchObject({ status: 415 });
    },
  );
});

describe('a large body of traces', () => {
  it('is stored completely, in slices', async () => {
    const name = randomUUID();
    const post = Array.from({ length: 2_500 }, (_, at) =>
      sentRun(randomUUID(), { session_name: name, inputs: { at, text: 'x'.repeat(300) } }),
    );
    expect(await batch(JSON.stringify({ post }))).toMatchObject({ status: 202 });
    const projects = await platform.call('GET', `/sessions?name=${name}`);
    const [{ id }] = projects.body as [{ id: string }];
    const stats = await platform.call('POST', '/runs/stats', { json: { session: [id] } });
    expect(stats.body).toMatchObject({ run_count: 2_500 });
    const last = post.at(-1) as { id: string; inputs: object };
    expect((await platform.call('GET', `/runs/${last.id}`)).body).toMatchObject({ inputs: last.inputs });
  });

  it('keeps the bytes of payloads and attachments, and reports invalid runs', async () => {
    const [id, bad] = [randomUUID(), randomUUID()];
    const inputs = `{"exact":1.10,"text":"${'é'.repeat(400_000)}"}`;
    const file = Buffer.from(Array.from({ length: 900_000 }, (_, at) => at % 251));
    const { status, body } = await multipart([
      part(`post.${id}`, JSON.stringify(sentRun(id))),
      part(`post.${id}.inputs`, inputs),
      part(`attachment.${id}.file`, file),
      part(`post.${bad}`, '{"id":'),
    ]);
    expect([status, body]).toMatchObject([202, { errors: [{ id: bad }] }]);
    const stored = await fetch(`${platform.apiUrl}/runs/${id}`, { headers: { 'x-api-key': platform.key } });
    expect(await stored.text()).toContain(`"inputs":${inputs}`);
    const attachment = await platform.call('GET', `/runs/${id}/attachments/file`);
    expect((attachment.body as { content: string }).content).toBe(file.toString('base64'));
  });

  it('adds spans to stored traces', async () => {
    const spanOf = (trace: string, span: string, parent?: string): object => ({
      traceId: trace.repeat(32),
      spanId: span.repeat(16),
      ...(parent === undefined ? {} : { parentSpanId: parent.repeat(16) }),
      name: `${trace}${span}`,
      startTimeUnixNano: '1795205100120000000',
      attributes: [{ key: 'filler', value: { stringValue: 'x'.repeat(400_000) } }],
    });
    const send = (spans: object[]): Sent =>
      platform.call('POST', '/otel/v1/traces', { json: { resourceSpans: [{ scopeSpans: [{ spans }] }] } });
    expect(await send([spanOf('a', '1')])).toMatchObject({ status: 200, body: {} });
    // Another trace has a span with the same id, which must not be confused with the first.
    expect(await send([spanOf('b', '1'), spanOf('b', '2', '1')])).toMatchObject({ status: 200, body: {} });
    const root = await platform.call('GET', '/runs/00000000-0000-0000-1111-111111111111');
    expect(root.body).toMatchObject({ name: 'a1' });
    const child = await platform.call('GET', '/runs/00000000-0000-0000-2222-222222222222');
    const { parent_run_id } = child.body as { parent_run_id: string };
    expect((await platform.call('GET', `/runs/${parent_run_id}`)).body).toMatchObject({ name: 'b1' });
  });
});

describe('a body of the deployment API', () => {
  const input = { messages: [{ role: 'user', content: `${'say "hello"\n'.repeat(100_000)} 😀` }] };

  it('is rejected above the limit of values, which is named', async () => {
    const body = `{"assistant_id":"chat","input":${emptyObjects(200_001)}}`;
    const { status, text } = await deployment('POST', '/runs/wait', body);
    expect([status, JSON.parse(text)]).toMatchObject([
      413,
      { code: 'too_large', message: expect.stringContaining('more than 200000 JSON values') as string },
    ]);
  });

  it('is rejected above the limit of keys, which is named', async () => {
    const keys = Array.from({ length: 50_001 }, (_, at) => `"k${at}":1`).join(',');
    const { status, text } = await deployment('POST', '/threads', `{"metadata":{${keys}}}`);
    expect([status, JSON.parse(text)]).toMatchObject([
      413,
      { message: expect.stringContaining('more than 50000 JSON keys') as string },
    ]);
  });

  it('reaches the graph unchanged, and is read back unchanged', async () => {
    const thread = await platform.server.call('POST', '/threads', {});
    const { thread_id } = thread.body as { thread_id: string };
    const sent = { assistant_id: 'chat', input, context: { large: 'x'.repeat(10_000) } };
    const created = await platform.server.call('POST', `/threads/${thread_id}/runs`, sent);
    expect(created).toMatchObject({ status: 200, body: { kwargs: { input, context: sent.context } } });
    const { run_id } = created.body as { run_id: string };
    const joined = await platform.server.call('GET', `/threads/${thread_id}/runs/${run_id}/join`);
    expect(joined.body).toMatchObject({ messages: [{ content: input.messages[0]?.content }, {}] });
    const read = await platform.server.call('GET', `/threads/${thread_id}/runs/${run_id}`);
    expect(read.body).toMatchObject({ status: 'success', kwargs: { input, context: sent.context } });
  });

  it('is the same run with the same Idempotency-Key', async () => {
    const thread = await platform.server.call('POST', '/threads', {});
    const { thread_id } = thread.body as { thread_id: string };
    const send = (more: object = {}) =>
      platform.server.call(
        'POST',
        `/threads/${thread_id}/runs`,
        { assistant_id: 'chat', input: { ...input, ...more } },
        { 'idempotency-key': 'large' },
      );
    const [first, second] = [await send(), await send()];
    expect(second.body).toMatchObject({ run_id: (first.body as { run_id: string }).run_id });
    expect(await send({ other: 1 })).toMatchObject({ status: 409 });
  });

  it('becomes the state', async () => {
    const thread = await platform.server.call('POST', '/threads', { metadata: { graph_id: 'chat' } });
    const { thread_id } = thread.body as { thread_id: string };
    const updated = await platform.server.call('POST', `/threads/${thread_id}/state`, { values: input });
    expect(updated.status).toBe(200);
    const state = await platform.server.call('GET', `/threads/${thread_id}/state`);
    expect(state.body).toMatchObject({ values: { messages: [{ content: input.messages[0]?.content }] } });
  });

  it('that is too large for the store is rejected by its size', async () => {
    const item = (value: object): string => JSON.stringify({ namespace: ['a'], key: 'k', value });
    const { status, text } = await deployment('PUT', '/store/items', item({ text: 'x'.repeat(5_000_000) }));
    expect([status, JSON.parse(text)]).toMatchObject([
      413,
      { message: expect.stringContaining('the limit is 1000000') as string },
    ]);
    const value = { text: 'x'.repeat(900_000) };
    expect(await deployment('PUT', '/store/items', item(value))).toMatchObject({ status: 204 });
    const read = await platform.server.call('GET', '/store/items?namespace=a&key=k');
    expect(read.body).toMatchObject({ value });
  });

  it('is validated like a small one', async () => {
    const list = [{ text: 'x'.repeat(600_000) }];
    const put = await deployment(
      'PUT',
      '/store/items',
      JSON.stringify({ namespace: ['a'], key: 'k', value: list }),
    );
    expect(put.status).toBe(422);
    const missing = await deployment('POST', '/runs/wait', JSON.stringify({ input: list }));
    expect([missing.status, missing.text]).toMatchObject([422, expect.stringContaining('assistant_id')]);
  });
});
