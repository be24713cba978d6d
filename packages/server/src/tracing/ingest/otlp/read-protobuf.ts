// Reads an ExportTraceServiceRequest (opentelemetry.proto.collector.trace.v1) in binary form. Unknown fields, and fields with an
// unexpected wire type, are skipped, as protobuf requires. Truncated and malformed messages are rejected.
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { Problem } from '@svc/contract/problem';
import type { JsonBudget } from '../../../json/json-limits.ts';
import {
  fromDouble,
  fromInteger,
  type Origin,
  type Span,
  type SpanEvent,
  type SpanLink,
  type SpanSink,
  valueDepthMax,
} from './span.ts';

type Field = readonly [wire: WireType, read: (reader: BinaryReader) => void];
/** By field number. */
type Fields = Readonly<Record<number, Field>>;

const { Varint, Bit64, LengthDelimited } = WireType;

/** Throws a Problem when the body is not an ExportTraceServiceRequest. */
export const readProtobuf = (body: Uint8Array, sink: SpanSink, budget: JsonBudget): void => {
  try {
    readFields(body, {
      1: [LengthDelimited, (reader) => readResourceSpans(reader.bytes(), sink, budget)],
    });
  } catch (cause) {
    if (cause instanceof Problem) throw cause;
    throw new Problem(
      'bad_request',
      'The body is not a valid OTLP request in protobuf, or it is truncated.',
      { cause },
    );
  }
};

const readFields = (bytes: Uint8Array, fields: Fields): void => {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag();
    const field = fields[number];
    if (field?.[0] === wire) field[1](reader);
    else reader.skip(wire, number);
  }
};

const readResourceSpans = (bytes: Uint8Array, sink: SpanSink, budget: JsonBudget): void => {
  const resource = new Map<string, unknown>();
  const scopes: Uint8Array[] = [];
  budget.spend(1);
  // The resource may come after its spans.
  readFields(bytes, {
    1: [LengthDelimited, (reader) => readFields(reader.bytes(), { 1: attribute(resource, budget) })],
    2: [LengthDelimited, (reader) => void scopes.push(reader.bytes())],
  });
  for (const scope of scopes) readScopeSpans(scope, resource, sink, budget);
};

const readScopeSpans = (
  bytes: Uint8Array,
  resource: Origin['resource'],
  sink: SpanSink,
  budget: JsonBudget,
): void => {
  const scope = { name: '', version: '' };
  const spans: Uint8Array[] = [];
  budget.spend(1);
  readFields(bytes, {
    1: [
      LengthDelimited,
      (reader) =>
        readFields(reader.bytes(), {
          1: [LengthDelimited, (inner) => (scope.name = inner.string())],
          2: [LengthDelimited, (inner) => (scope.version = inner.string())],
        }),
    ],
    2: [
      LengthDelimited,
      (reader) => {
        budget.spend(1);
        spans.push(reader.bytes());
      },
    ],
  });
  for (const span of spans) sink.span(readSpan(span, budget), { resource, scope });
};

const readSpan = (bytes: Uint8Array, budget: JsonBudget): Span => {
  const attributes = new Map<string, unknown>();
  const status = { code: 0, message: '' };
  const span: Span = {
    trace_id: '',
    span_id: '',
    parent_span_id: '',
    trace_state: '',
    name: '',
    kind: 0,
    start: 0n,
    end: 0n,
    attributes,
    events: [],
    links: [],
    status,
  };
  readFields(bytes, {
    1: [LengthDelimited, (reader) => (span.trace_id = hex(reader))],
    2: [LengthDelimited, (reader) => (span.span_id = hex(reader))],
    3: [LengthDelimited, (reader) => (span.trace_state = reader.string())],
    4: [LengthDelimited, (reader) => (span.parent_span_id = hex(reader))],
    5: [LengthDelimited, (reader) => (span.name = reader.string())],
    6: [Varint, (reader) => (span.kind = reader.int32())],
    7: [Bit64, (reader) => (span.start = BigInt(reader.fixed64()))],
    8: [Bit64, (reader) => (span.end = BigInt(reader.fixed64()))],
    9: attribute(attributes, budget),
    11: [LengthDelimited, (reader) => span.events.push(readEvent(reader.bytes(), budget))],
    13: [LengthDelimited, (reader) => span.links.push(readLink(reader.bytes(), budget))],
    15: [
      LengthDelimited,
      (reader) =>
        readFields(reader.bytes(), {
          2: [LengthDelimited, (inner) => (status.message = inner.string())],
          3: [Varint, (inner) => (status.code = inner.int32())],
        }),
    ],
  });
  return span;
};

const readEvent = (bytes: Uint8Array, budget: JsonBudget): SpanEvent => {
  const attributes = new Map<string, unknown>();
  const event = { name: '', time: 0n, attributes };
  budget.spend(1);
  readFields(bytes, {
    1: [Bit64, (reader) => (event.time = BigInt(reader.fixed64()))],
    2: [LengthDelimited, (reader) => (event.name = reader.string())],
    3: attribute(attributes, budget),
  });
  return event;
};

const readLink = (bytes: Uint8Array, budget: JsonBudget): SpanLink => {
  const attributes = new Map<string, unknown>();
  const link = { trace_id: '', span_id: '', attributes };
  budget.spend(1);
  readFields(bytes, {
    1: [LengthDelimited, (reader) => (link.trace_id = hex(reader))],
    2: [LengthDelimited, (reader) => (link.span_id = hex(reader))],
    4: attribute(attributes, budget),
  });
  return link;
};

const hex = (reader: BinaryReader): string => {
  const bytes = reader.bytes();
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');
};

/** Reads a KeyValue into the map. */
const attribute = (into: Map<string, unknown>, budget: JsonBudget, depth = 0): Field => [
  LengthDelimited,
  (reader) => {
    let key = '';
    let value: unknown = null;
    readFields(reader.bytes(), {
      1: [LengthDelimited, (inner) => (key = inner.string())],
      2: [LengthDelimited, (inner) => (value = readValue(inner.bytes(), budget, depth))],
    });
    budget.spend(1);
    into.set(key, value);
  },
];

/** Reads an AnyValue. */
const readValue = (bytes: Uint8Array, budget: JsonBudget, depth: number): unknown => {
  if (depth > valueDepthMax)
    throw new Problem('bad_request', `An attribute is nested deeper than ${valueDepthMax} levels.`);
  budget.spend(1);
  let value: unknown = null;
  readFields(bytes, {
    1: [LengthDelimited, (reader) => (value = reader.string())],
    2: [Varint, (reader) => (value = reader.bool())],
    3: [Varint, (reader) => (value = fromInteger(BigInt(reader.int64())))],
    4: [Bit64, (reader) => (value = fromDouble(reader.double()))],
    5: [
      LengthDelimited,
      (reader) => {
        const list: unknown[] = [];
        readFields(reader.bytes(), {
          1: [LengthDelimited, (inner) => list.push(readValue(inner.bytes(), budget, depth + 1))],
        });
        value = list;
      },
    ],
    6: [
      LengthDelimited,
      (reader) => {
        const entries = new Map<string, unknown>();
        readFields(reader.bytes(), { 1: attribute(entries, budget, depth + 1) });
        value = Object.fromEntries(entries);
      },
    ],
    7: [LengthDelimited, (reader) => (value = Buffer.from(reader.bytes()).toString('base64'))],
  });
  return value;
};
