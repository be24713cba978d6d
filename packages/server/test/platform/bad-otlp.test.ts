// Invalid requests of OpenTelemetry exporters: each gets a clear error, and the valid spans are stored.
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { NewApiKey, OtlpAnswer, TraceRun } from '@svc/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { startPlatform, type PlatformServer } from './platform-server.ts';
import { fixture } from '../fixture.ts';

const platform = fixture(() => startPlatform({ ingestBytesMax: 4_194_304, ingestValuesMax: 100_000 }));

type Answer = Awaited<ReturnType<PlatformServer['call']>>;

const path = '/otel/v1/traces';
const protobuf = 'application/x-protobuf';

const newId = (): string => randomBytes(8).toString('hex');
const newSpan = (more: object = {}): { spanId: string; [field: string]: unknown } => ({
  traceId: randomBytes(16).toString('hex'),
  spanId: newId(),
  name: 'x',
  startTimeUnixNano: '1795205100000000000',
  endTimeUnixNano: '1795205101000000000',
  ...more,
});

const sendJson = (...spans: unknown[]): Promise<Answer> =>
  platform.call('POST', path, { json: { resourceSpans: [{ scopeSpans: [{ spans }] }] } });

const runIdOf = (spanId: string): string => `00000000-0000-0000-${spanId.slice(0, 4)}-${spanId.slice(4)}`;

const get = async (spanId: string): Promise<TraceRun | undefined> => {
  const { status, body } = await platform.call('GET', `/runs/${runIdOf(spanId)}`);
  return status === 200 ? (body as TraceRun) : undefined;
};

/** The bytes of one request, and the ids of its spans. */
const newRequest = (count = 3): { bytes: Buffer; ids: string[] } => {
  const memory = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(memory)] });
  for (let index = 0; index < count; index++)
    provider.getTracer('t').startSpan(`span ${index}`, { attributes: { index } }).end();
  const spans = memory.getFinishedSpans();
  const bytes = Buffer.from(ProtobufTraceSerializer.serializeRequest(spans) ?? []);
  return { bytes, ids: spans.map((span) => span.spanContext().spanId) };
};

const post = (
  bytes: Buffer,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: Buffer; headers: Headers }> =>
  fetch(platform.apiUrl + path, {
    method: 'POST',
    headers: { 'x-api-key': platform.key, 'content-type': protobuf, ...headers },
    body: new Uint8Array(bytes),
  }).then(async (response) => ({
    status: response.status,
    body: Buffer.from(await response.arrayBuffer()),
    headers: response.headers,
  }));

/** A length-delimited field, as protobuf encodes it. */
const field = (number: number, bytes: Uint8Array): Uint8Array =>
  new BinaryWriter().tag(number, WireType.LengthDelimited).bytes(bytes).finish();

describe('a span', () => {
  it.each<[string, object, RegExp]>([
    ['a short span id', { spanId: 'abcd' }, /span id does not have 8 bytes/],
    ['a long span id', { spanId: newId() + newId() }, /span id does not have 8 bytes/],
    ['a span id of zeros', { spanId: '0'.repeat(16) }, /all zero/],
    ['no trace id', { traceId: undefined }, /trace id does not have 16 bytes/],
    ['a trace id that is not hexadecimal', { traceId: 'x'.repeat(32) }, /trace id does not have 16/],
    ['a trace id of zeros', { traceId: '0'.repeat(32) }, /all zero/],
    ['a short parent', { parentSpanId: 'ab' }, /parent does not have 8 bytes/],
    ['itself as its parent', { spanId: 'a'.repeat(16), parentSpanId: 'a'.repeat(16) }, /its own parent/],
    ['an invalid time', { startTimeUnixNano: 'soon' }, /startTimeUnixNano is not a number/],
    ['a negative time', { endTimeUnixNano: -5 }, /endTimeUnixNano is not a number/],
    ['an invalid name', { name: 7 }, /name is not a string/],
    ['attributes that are not a list', { attributes: { a: 1 } }, /attributes is not a list/],
    [
      'an invalid run id of its own',
      { attributes: [{ key: 'langsmith.span.id', value: { stringValue: 'x' } }] },
      /id is not a UUID/,
    ],
    [
      'a run id that only begins like that of a span',
      { attributes: [{ key: 'langsmith.span.id', value: { stringValue: '00000000-0000-0000-x' } }] },
      /id is not a UUID/,
    ],
    [
      'a run id with NUL',
      { attributes: [{ key: 'langsmith.span.id', value: { stringValue: '00000000-0000-0000-\0' } }] },
      /id is not a UUID/,
    ],
  ])('with %s is reported, and the others are stored', async (_, fault, message) => {
    const good = newSpan();
    const { status, body } = await sendJson(newSpan(fault), good, 7);
    const { partialSuccess } = body as OtlpAnswer;
    expect(status).toBe(200);
    expect(partialSuccess?.rejectedSpans).toBe('2');
    expect(partialSuccess?.errorMessage).toMatch(message);
    expect(partialSuccess?.errorMessage).toMatch(/a span is not an object/);
    expect(await get(good.spanId)).toMatchObject({ name: 'x' });
  });

  it('that is rejected in protobuf is counted in protobuf', async () => {
    const span = Buffer.concat([
      field(1, randomBytes(16)),
      field(2, randomBytes(3)),
      field(5, Buffer.from('é')),
    ]);
    const { status, body, headers } = await post(Buffer.from(field(1, field(2, field(2, span)))));
    expect([status, headers.get('content-type')]).toEqual([200, protobuf]);
    const outer = new BinaryReader(body);
    expect(outer.tag()).toEqual([1, WireType.LengthDelimited]);
    const partial = new BinaryReader(outer.bytes());
    expect(partial.tag()).toEqual([1, WireType.Varint]);
    expect(partial.int64()).toBe(1n);
    expect(partial.tag()).toEqual([2, WireType.LengthDelimited]);
    expect(partial.string()).toMatch(/span id does not have 8 bytes/);
  });

  it.each([
    ['an end before its start', { endTimeUnixNano: '1795205099000000000' }, '2026'],
    ['a start in 1970', { startTimeUnixNano: '1' }, '1970-01-01T00:00:00.000000Z'],
    ['a start in 2554', { startTimeUnixNano: '18446744073709551615' }, '2554-07-21T23:34:33.709551Z'],
    ['no times', { startTimeUnixNano: undefined, endTimeUnixNano: '0' }, '1970-01-01T00:00:00.000000Z'],
    ['a time as a number', { startTimeUnixNano: 1_795_205_100_000_000_000 }, '2026'],
  ])('with %s is stored', async (_, odd, start) => {
    const span = newSpan(odd);
    expect(await sendJson(span)).toMatchObject({ status: 200, body: {} });
    expect((await get(span.spanId))?.start_time?.startsWith(start)).toBe(true);
  });

  it('keeps unusual texts and keys as they are', async () => {
    const text = 'nul \0 half \ud800 end';
    const value = { stringValue: text };
    const span = newSpan({
      name: text,
      attributes: [
        { key: '__proto__', value },
        { key: 'constructor.prototype', value },
        { key: 'input.value', value },
        { key: 'llm.input_messages.0.message.__proto__', value: { stringValue: 'x' } },
        { key: 'deep', value: { kvlistValue: { values: [{ key: '__proto__', value }] } } },
        { key: 'big', value: { intValue: '9007199254740993' } },
        { key: 'bytes', value: { bytesValue: 'AAEC' } },
      ],
    });
    expect(await sendJson(span)).toMatchObject({ status: 200, body: {} });
    const run = await get(span.spanId);
    expect(run?.name).toBe(text);
    const metadata = run?.extra?.['metadata'] as Record<string, unknown>;
    expect(Object.hasOwn(metadata, '__proto__')).toBe(true);
    expect(metadata).toMatchObject({ 'constructor.prototype': text, 'input.value': text, bytes: 'AAEC' });
    expect(metadata['big']).toBe('9007199254740993');
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  it('is stored although its service has a name that no project can have', async () => {
    const span = newSpan();
    for (const name of ['\0', ' ', '\ud800'.repeat(2_000), 'n'.repeat(100_000)]) {
      const attributes = [{ key: 'service.name', value: { stringValue: name } }];
      const json = { resourceSpans: [{ resource: { attributes }, scopeSpans: [{ spans: [span] }] }] };
      expect(await platform.call('POST', path, { json })).toMatchObject({ status: 200, body: {} });
    }
  });

  it('may have unknown fields and values', async () => {
    const span = newSpan({ color: 'red', attributes: [{ key: 'a', value: { newValue: 1 } }, { key: 'b' }] });
    expect(await sendJson(span)).toMatchObject({ status: 200, body: {} });
    const { bytes, ids } = newRequest(1);
    const unknown = new BinaryWriter().tag(99, WireType.Varint).int32(7).tag(98, WireType.Bit64).fixed64(1n);
    const { status, body } = await post(Buffer.concat([unknown.finish(), bytes, field(77, bytes)]));
    expect([status, body.length]).toEqual([200, 0]);
    expect(await get(ids[0] ?? '')).toMatchObject({ name: 'span 0' });
  });
});

describe('a request', () => {
  it('that is cut off at any byte is rejected and stores nothing', async () => {
    const { bytes, ids } = newRequest();
    for (let cut = 1; cut < bytes.length; cut += Math.ceil(bytes.length / 40)) {
      const { status, body } = await post(bytes.subarray(0, cut));
      expect(status).toBe(400);
      expect(JSON.parse(body.toString())).toMatchObject({ code: 'bad_request' });
    }
    for (const id of ids) expect(await get(id)).toBeUndefined();
  });

  it('of random bytes gets a response in its own encoding', async () => {
    const { bytes } = newRequest();
    const flipped = fc
      .tuple(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }))
      .map(([at, mask]) => Buffer.from(bytes.map((byte, index) => (index === at ? byte ^ mask : byte))));
    const any = fc.oneof(
      fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array)),
      flipped,
    );
    await fc.assert(
      fc.asyncProperty(any, async (body) => {
        expect([200, 400]).toContain((await post(body)).status);
      }),
      { numRuns: 200 },
    );
  });

  it('that is nested too deeply is rejected', async () => {
    let value = field(1, Buffer.from('x'));
    for (let depth = 0; depth < 1_000; depth++) value = field(5, field(1, value));
    const attribute = Buffer.concat([field(1, Buffer.from('deep')), field(2, value)]);
    expect(await post(Buffer.from(field(1, field(1, field(1, attribute)))))).toMatchObject({ status: 400 });
    const groups = Buffer.alloc(1_000_000, new BinaryWriter().tag(50, WireType.StartGroup).finish());
    expect(await post(groups)).toMatchObject({ status: 400 });
  });

  it('that expands to many values is rejected, and the server keeps serving', async () => {
    const attributes = Buffer.alloc(300_000, field(9, Buffer.alloc(0)));
    const bomb = Buffer.from(field(1, field(2, field(2, attributes))));
    expect(await post(gzipSync(bomb), { 'content-encoding': 'gzip' })).toMatchObject({ status: 413 });
    const zeros = gzipSync(Buffer.alloc(10_000_000));
    expect(await post(zeros, { 'content-encoding': 'gzip' })).toMatchObject({ status: 413 });
    expect(await post(Buffer.alloc(4_300_000))).toMatchObject({ status: 413 });
    expect(await post(newRequest().bytes)).toMatchObject({ status: 200 });
  });

  it('of another content type or encoding is rejected', async () => {
    const { bytes } = newRequest();
    expect(await post(bytes, { 'content-type': 'text/plain' })).toMatchObject({ status: 415 });
    expect(await post(bytes, { 'content-type': 'application/grpc' })).toMatchObject({ status: 415 });
    expect(await post(bytes, { 'content-encoding': 'br' })).toMatchObject({ status: 415 });
    expect(await post(bytes, { 'content-encoding': 'gzip' })).toMatchObject({ status: 400 });
    expect(await post(bytes, { 'content-type': 'application/json' })).toMatchObject({ status: 400 });
    expect(await post(Buffer.from('{}'))).toMatchObject({ status: 400 });
  });

  const bodies: [body: string, status: number][] = [
    ['{', 400],
    ['[]', 400],
    ['{"resourceSpans":{}}', 400],
    ['{"resourceSpans":[{"scopeSpans":[{"spans":7}]}]}', 400],
    [`{"resourceSpans":${'['.repeat(100_000)}`, 400],
    ['{}', 200],
    ['{"resourceSpans":[{}]}', 200],
  ];
  it.each(bodies.map(([body, status]) => [body.slice(0, 60), status, body] as const))(
    '%s returns %d',
    async (_, status, body) => {
      const headers = { 'content-type': 'application/json; charset=utf-8' };
      expect(await platform.call('POST', path, { body, headers })).toMatchObject({ status });
    },
  );

  it('without spans is accepted', async () => {
    expect(await post(Buffer.alloc(0))).toMatchObject({ status: 200, body: Buffer.alloc(0) });
  });

  it('needs a key that may ingest, even if that key cannot read', async () => {
    const keyOf = async (role: string): Promise<string> =>
      ((await platform.call('POST', '/api-key', { json: { role } })).body as NewApiKey).key;
    const [sender, reader] = [await keyOf('ingest'), await keyOf('viewer')];
    const json = { resourceSpans: [{ scopeSpans: [{ spans: [newSpan()] }] }] };
    expect(await platform.call('POST', path, { json, key: sender })).toMatchObject({ status: 200 });
    expect(await platform.call('POST', path, { json, key: reader })).toMatchObject({ status: 403 });
    expect(await platform.call('POST', path, { json, key: null })).toMatchObject({ status: 401 });
  });
});
