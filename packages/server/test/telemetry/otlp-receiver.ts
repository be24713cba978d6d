// A receiver of OTLP for tests. It decodes what a server sends: spans as the ingest of traces does, metrics by their field numbers.
// https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/metrics/v1/metrics.proto
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { ingestLimits, JsonBudget } from '../../src/parsing/json-limits.ts';
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

export interface OtlpReceiver extends AsyncDisposable {
  url: string;
  spans: ReceivedSpan[];
  /** Of the last export, by name. */
  metrics: Map<string, ReceivedMetric>;
  requests: { path: string; headers: IncomingHttpHeaders }[];
  /** Requests without an answer whose clients still wait. */
  waiting: () => number;
}

/** `silent`: it reads requests and does not answer. */
export const startReceiver = async ({ silent = false } = {}): Promise<OtlpReceiver> => {
  const spans: ReceivedSpan[] = [];
  const metrics = new Map<string, ReceivedMetric>();
  const requests: OtlpReceiver['requests'] = [];
  const waiting = new Set<IncomingMessage>();
  const receive = async (request: IncomingMessage): Promise<void> => {
    const body = await buffer(request);
    const bytes = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
    if (request.url?.endsWith('/v1/traces') === true) spans.push(...readSpans(bytes));
    else for (const metric of readMetrics(bytes)) metrics.set(metric.name, metric);
    requests.push({ path: request.url ?? '', headers: request.headers });
  };
  const server = await serveHttp((request, response) => {
    waiting.add(request);
    response.on('close', () => waiting.delete(request));
    receive(request).then(
      () => {
        if (!silent) response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
      },
      (error: unknown) => response.writeHead(400).end(String(error)),
    );
  });
  return {
    url: server.url,
    spans,
    metrics,
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
