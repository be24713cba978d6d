// A receiver of OTLP for tests. It decodes what a server sends: spans as the ingest of traces does, metrics and log records by their
// field numbers.
// https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/metrics/v1/metrics.proto
// https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/logs/v1/logs.proto
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { ingestLimits, JsonBudget } from '../../src/json/json-limits.ts';
import { readProtobuf } from '../../src/tracing/ingest/otlp/read-protobuf.ts';
import type { Span } from '../../src/tracing/ingest/otlp/span.ts';
import { serveHttp } from '../serve-http.ts';

export interface ReceivedSpan extends Omit<Span, 'attributes'> {
  attributes: Record<string, unknown>;
  resource: Record<string, unknown>;
}

export interface Point {
  attributes: Record<string, string>;
  value?: number;
  count?: number;
  sum?: number;
  buckets?: number[];
  bounds?: number[];
}

export interface ReceivedMetric {
  name: string;
  help: string;
  type: 'counter' | 'gauge' | 'histogram';
  points: Point[];
}

export interface ReceivedLog {
  timeMs: number;
  severityNumber: number;
  severityText: string;
  body: unknown;
  attributes: Record<string, unknown>;
  /** Hexadecimal; empty without a span. */
  traceId: string;
  spanId: string;
  resource: Record<string, unknown>;
}

export interface OtlpReceiver extends AsyncDisposable {
  url: string;
  spans: ReceivedSpan[];
  /** Of the last export, by name. */
  metrics: Map<string, ReceivedMetric>;
  logs: ReceivedLog[];
  requests: { path: string; headers: IncomingHttpHeaders }[];
  /** Requests without an answer whose clients still wait. */
  waiting: () => number;
}

/** `silent`: it reads requests and does not answer. `status`: of its responses; other ones than 200 keep nothing of what was sent. */
export const startReceiver = async ({
  silent = false,
  status = (): number => 200,
} = {}): Promise<OtlpReceiver> => {
  const logs: ReceivedLog[] = [];
  const spans: ReceivedSpan[] = [];
  const metrics = new Map<string, ReceivedMetric>();
  const requests: OtlpReceiver['requests'] = [];
  const waiting = new Set<IncomingMessage>();
  const receive = async (request: IncomingMessage): Promise<number> => {
    const body = await buffer(request);
    const bytes = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
    const answered = status();
    requests.push({ path: request.url ?? '', headers: request.headers });
    if (answered !== 200) return answered;
    if (request.url?.endsWith('/v1/traces') === true) spans.push(...readSpans(bytes));
    else if (request.url?.endsWith('/v1/logs') === true) logs.push(...readLogs(bytes));
    else for (const metric of readMetrics(bytes)) metrics.set(metric.name, metric);
    return answered;
  };
  const server = await serveHttp((request, response) => {
    waiting.add(request);
    response.on('close', () => waiting.delete(request));
    receive(request).then(
      (answered) => {
        if (!silent) response.writeHead(answered, { 'content-type': 'application/x-protobuf' }).end();
      },
      (error: unknown) => response.writeHead(400).end(String(error)),
    );
  });
  return {
    url: server.url,
    spans,
    metrics,
    logs,
    requests,
    waiting: () => waiting.size,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
};

const readSpans = (bytes: Uint8Array): ReceivedSpan[] => {
  const spans: ReceivedSpan[] = [];
  const sink = {
    span: (span: Span, { resource }: { resource: ReadonlyMap<string, unknown> }) =>
      void spans.push({
        ...span,
        attributes: Object.fromEntries(span.attributes),
        resource: Object.fromEntries(resource),
      }),
    fault: (message: string) => {
      throw new Error(message);
    },
  };
  readProtobuf(bytes, sink, new JsonBudget(ingestLimits));
  return spans;
};

type Value = Uint8Array | number | bigint;

/** The fields of a message in their order. */
const fieldsOf = (bytes: Uint8Array): [number: number, value: Value][] => {
  const reader = new BinaryReader(bytes);
  const fields: [number, Value][] = [];
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag();
    if (wire === WireType.LengthDelimited) fields.push([number, reader.bytes()]);
    else if (wire === WireType.Bit64) fields.push([number, BigInt(reader.fixed64())]);
    else if (wire === WireType.Varint) fields.push([number, Number(reader.uint64())]);
    else if (wire === WireType.Bit32) fields.push([number, reader.fixed32()]);
    else throw new Error(`unexpected wire type ${wire}`);
  }
  return fields;
};

const messages = (bytes: Uint8Array, number: number): Uint8Array[] =>
  fieldsOf(bytes).flatMap(([at, value]) => (at === number && value instanceof Uint8Array ? [value] : []));

const text = (bytes: Uint8Array, number: number): string =>
  new TextDecoder().decode(messages(bytes, number)[0]);

const double = (bits: bigint): number => new Float64Array(new BigUint64Array([bits]).buffer)[0] ?? 0;

const packed = (bytes: Uint8Array): bigint[] => [...new BigUint64Array(new Uint8Array(bytes).buffer)];

const attributesOf = (bytes: Uint8Array, number: number): Record<string, string> =>
  Object.fromEntries(
    messages(bytes, number).map((pair) => [text(pair, 1), text(messages(pair, 2)[0] ?? new Uint8Array(), 1)]),
  );

const number64 = (bytes: Uint8Array, number: number): bigint | undefined => {
  const value = fieldsOf(bytes).find(([at]) => at === number)?.[1];
  return typeof value === 'bigint' ? value : undefined;
};

const toPoint = (bytes: Uint8Array): Point => ({
  attributes: attributesOf(bytes, 7),
  value: double(number64(bytes, 4) ?? 0n),
});

const toHistogramPoint = (bytes: Uint8Array): Point => ({
  attributes: attributesOf(bytes, 9),
  count: Number(number64(bytes, 4)),
  sum: double(number64(bytes, 5) ?? 0n),
  buckets: messages(bytes, 6).flatMap(packed).map(Number),
  bounds: messages(bytes, 7).flatMap(packed).map(double),
});

const readMetrics = (bytes: Uint8Array): ReceivedMetric[] =>
  messages(bytes, 1)
    .flatMap((resource) => messages(resource, 2))
    .flatMap((scope) => messages(scope, 2))
    .map((metric) => {
      const [gauge, sum, histogram] = [5, 7, 9].map((number) => messages(metric, number)[0]);
      const data = gauge ?? sum ?? histogram ?? new Uint8Array();
      return {
        name: text(metric, 1),
        help: text(metric, 2),
        type: gauge ? 'gauge' : sum ? 'counter' : 'histogram',
        points: messages(data, 1).map(histogram ? toHistogramPoint : toPoint),
      };
    });

/** An AnyValue. */
const valueOf = (bytes: Uint8Array): unknown => {
  const [field] = fieldsOf(bytes);
  if (!field) return undefined;
  const [number, value] = field;
  if (typeof value === 'bigint') return double(value);
  if (typeof value === 'number') return number === 2 ? value === 1 : value;
  if (number === 1) return new TextDecoder().decode(value);
  return number === 5 ? messages(value, 1).map(valueOf) : valuesOf(value, 1);
};

/** The KeyValues in a field of a message. */
const valuesOf = (bytes: Uint8Array, number: number): Record<string, unknown> =>
  Object.fromEntries(
    messages(bytes, number).map((pair) => [text(pair, 1), valueOf(messages(pair, 2)[0] ?? new Uint8Array())]),
  );

const hex = (bytes: Uint8Array, number: number): string =>
  Buffer.from(messages(bytes, number)[0] ?? []).toString('hex');

const readLogs = (bytes: Uint8Array): ReceivedLog[] =>
  messages(bytes, 1).flatMap((resourceLogs) => {
    const resource = valuesOf(messages(resourceLogs, 1)[0] ?? new Uint8Array(), 1);
    return messages(resourceLogs, 2)
      .flatMap((scope) => messages(scope, 2))
      .map((record) => ({
        timeMs: Number((number64(record, 1) ?? 0n) / 1_000_000n),
        severityNumber: Number(fieldsOf(record).find(([at]) => at === 2)?.[1]),
        severityText: text(record, 3),
        body: valueOf(messages(record, 5)[0] ?? new Uint8Array()),
        attributes: valuesOf(record, 6),
        traceId: hex(record, 9),
        spanId: hex(record, 10),
        resource,
      }));
  });
