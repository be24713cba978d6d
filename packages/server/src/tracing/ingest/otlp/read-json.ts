// Reads an ExportTraceServiceRequest in JSON: ids are hexadecimal, 64-bit numbers are strings or numbers. Unknown fields are ignored. An
// invalid span is reported; the others are read.
import { RunRejected } from '../sent-run.ts';
import {
  type Attributes,
  fromDouble,
  fromInteger,
  type Origin,
  type Span,
  type SpanSink,
  valueDepthMax,
} from './span.ts';
import { isRecord } from '../../../json/is-record.ts';

type Fields = Record<string, unknown>;

/** Absent fields and null are empty, as in the JSON mapping of protobuf. */
const fieldsOf = (value: unknown, what: string): Fields => {
  if (value === undefined || value === null) return {};
  if (!isRecord(value)) throw new RunRejected(`${what} is not an object`);
  return value;
};

const listOf = (value: unknown, what: string): unknown[] => {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new RunRejected(`${what} is not a list`);
  return value as unknown[];
};

const textOf = (value: unknown, what: string): string => {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string') throw new RunRejected(`${what} is not a string`);
  return value;
};

/** `body`: the parsed body. Throws RunRejected when it is not an ExportTraceServiceRequest. */
export const readJson = (body: unknown, sink: SpanSink): void => {
  if (!isRecord(body)) throw new RunRejected('the body is not an object');
  for (const item of listOf(body['resourceSpans'], 'resourceSpans')) {
    const part = fieldsOf(item, 'an item of resourceSpans');
    const resource = attributesOf(fieldsOf(part['resource'], 'resource')['attributes']);
    for (const inner of listOf(part['scopeSpans'], 'scopeSpans')) {
      const scoped = fieldsOf(inner, 'an item of scopeSpans');
      const { name, version } = fieldsOf(scoped['scope'], 'scope');
      const scope = { name: textOf(name, 'scope.name'), version: textOf(version, 'scope.version') };
      for (const span of listOf(scoped['spans'], 'spans')) readSpan(span, { resource, scope }, sink);
    }
  }
};

const readSpan = (value: unknown, origin: Origin, sink: SpanSink): void => {
  let span: Span;
  try {
    span = spanOf(fieldsOf(value, 'a span'));
  } catch (error) {
    if (!(error instanceof RunRejected)) throw error;
    sink.fault(error.message);
    return;
  }
  sink.span(span, origin);
};

const spanOf = (fields: Fields): Span => {
  const status = fieldsOf(fields['status'], 'status');
  return {
    trace_id: textOf(fields['traceId'], 'traceId').toLowerCase(),
    span_id: textOf(fields['spanId'], 'spanId').toLowerCase(),
    parent_span_id: textOf(fields['parentSpanId'], 'parentSpanId').toLowerCase(),
    trace_state: textOf(fields['traceState'], 'traceState'),
    name: textOf(fields['name'], 'name'),
    kind: typeof fields['kind'] === 'number' ? fields['kind'] : 0,
    start: nanosOf(fields['startTimeUnixNano'], 'startTimeUnixNano'),
    end: nanosOf(fields['endTimeUnixNano'], 'endTimeUnixNano'),
    attributes: attributesOf(fields['attributes']),
    events: listOf(fields['events'], 'events').map((item) => {
      const event = fieldsOf(item, 'an event');
      return {
        name: textOf(event['name'], 'the name of an event'),
        time: nanosOf(event['timeUnixNano'], 'timeUnixNano'),
        attributes: attributesOf(event['attributes']),
      };
    }),
    links: listOf(fields['links'], 'links').map((item) => {
      const link = fieldsOf(item, 'a link');
      return {
        trace_id: textOf(link['traceId'], 'traceId'),
        span_id: textOf(link['spanId'], 'spanId'),
        attributes: attributesOf(link['attributes']),
      };
    }),
    status: { code: codeOf(status['code']), message: textOf(status['message'], 'status.message') },
  };
};

const codeOf = (value: unknown): number => {
  if (value === 'STATUS_CODE_ERROR') return 2;
  if (value === 'STATUS_CODE_OK') return 1;
  return typeof value === 'number' ? value : 0;
};

const nanosMax = 2n ** 64n;

const nanosOf = (value: unknown, what: string): bigint => {
  if (value === undefined || value === null) return 0n;
  const isCount =
    (typeof value === 'number' && Number.isInteger(value) && value >= 0) ||
    (typeof value === 'string' && /^\d{1,20}$/.test(value));
  const nanos = isCount ? BigInt(value) : nanosMax;
  if (nanos >= nanosMax) throw new RunRejected(`${what} is not a number of nanoseconds since 1970`);
  return nanos;
};

const attributesOf = (value: unknown, depth = 0): Attributes => {
  const attributes = new Map<string, unknown>();
  for (const item of listOf(value, 'attributes')) {
    const fields = fieldsOf(item, 'an attribute');
    attributes.set(textOf(fields['key'], 'the key of an attribute'), valueOf(fields['value'], depth));
  }
  return attributes;
};

/** An AnyValue. */
const valueOf = (value: unknown, depth: number): unknown => {
  if (depth > valueDepthMax)
    throw new RunRejected(`an attribute is nested deeper than ${valueDepthMax} levels`);
  const fields = fieldsOf(value, 'the value of an attribute');
  const { stringValue, boolValue, intValue, doubleValue, arrayValue, kvlistValue, bytesValue } = fields;
  if (typeof stringValue === 'string') return stringValue;
  if (typeof boolValue === 'boolean') return boolValue;
  if (typeof intValue === 'number') return intValue;
  if (typeof intValue === 'string')
    return /^-?\d{1,20}$/.test(intValue) ? fromInteger(BigInt(intValue)) : intValue;
  if (typeof doubleValue === 'number') return fromDouble(doubleValue);
  if (typeof doubleValue === 'string') return doubleValue;
  if (typeof bytesValue === 'string') return bytesValue;
  if (isRecord(arrayValue))
    return listOf(arrayValue['values'], 'values').map((item) => valueOf(item, depth + 1));
  if (isRecord(kvlistValue)) return Object.fromEntries(attributesOf(kvlistValue['values'], depth + 1));
  return null;
};
