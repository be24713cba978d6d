// Spans of OpenTelemetry as they were read, from protobuf or from JSON.

/** JSON values; integers that a double cannot hold are texts, bytes are base64. */
export type Attributes = ReadonlyMap<string, unknown>;

export interface SpanEvent {
  name: string;
  /** Nanoseconds since 1970, as all times here; 0 is unknown. */
  time: bigint;
  attributes: Attributes;
}

export interface SpanLink {
  trace_id: string;
  span_id: string;
  attributes: Attributes;
}

export interface Span {
  /** Ids are hexadecimal and not yet checked. */
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

/** Where spans come from. */
export interface Origin {
  resource: Attributes;
  scope: { name: string; version: string };
}

/** Told of every span; `fault`: why it could not be read. */
export interface SpanSink {
  span(span: Span, origin: Origin): void;
  fault(message: string): void;
}

export const valueDepthMax = 64;

export const fromInteger = (value: bigint): number | string => {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
};

/** JSON has no NaN and no infinities. */
export const fromDouble = (value: number): number | string =>
  Number.isFinite(value) ? value : String(value);
