// OpenTelemetry spans, parsed from protobuf or JSON.

/** JSON values. Integers beyond the safe range of a double are strings; bytes are base64. */
export type Attributes = ReadonlyMap<string, unknown>;

export interface SpanEvent {
  name: string;
  /** Nanoseconds since 1970, like all times in this file; 0 means unknown. */
  time: bigint;
  attributes: Attributes;
}

export interface SpanLink {
  trace_id: string;
  span_id: string;
  attributes: Attributes;
}

export interface Span {
  /** Ids are hexadecimal and not validated. */
  trace_id: string;
  span_id: string;
  /** Empty for a root. */
  parent_span_id: string;
  trace_state: string;
  name: string;
  kind: number;
  start: bigint;
  end: bigint;
  attributes: Attributes;
  events: SpanEvent[];
  links: SpanLink[];
  status: { code: number; message: string };
}

/** Resource and instrumentation scope of a span. */
export interface Origin {
  resource: Attributes;
  scope: { name: string; version: string };
}

/** Receives every span; `fault` is called with a message for a span that cannot be read. */
export interface SpanSink {
  span(span: Span, origin: Origin): void;
  fault(message: string): void;
}

/** Maximum nesting of attribute values. */
export const valueDepthMax = 64;

export const fromInteger = (value: bigint): number | string => {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
};

/** JSON cannot represent NaN and infinities. */
export const fromDouble = (value: number): number | string =>
  Number.isFinite(value) ? value : String(value);
