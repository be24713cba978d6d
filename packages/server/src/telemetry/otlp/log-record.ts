// Converts lines of the log to log records of OpenTelemetry.
import { type Context, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { millisToHrTime } from '@opentelemetry/core';
import type { LoggerProvider } from '@opentelemetry/sdk-logs';
import { levelAndTime } from '../sent-line.ts';
import { isRecord } from '../../json/is-record.ts';

export type LogRecord = Parameters<ReturnType<LoggerProvider['getLogger']>['emit']>[0];

type Attributes = NonNullable<LogRecord['attributes']>;

/** Deeper values could exceed the stack of the SDK. The logger writes none. */
const depthMax = 32;

/** By the levels of pino: https://opentelemetry.io/docs/specs/otel/logs/data-model/#field-severitynumber */
const severities = new Map<unknown, [number: NonNullable<LogRecord['severityNumber']>, text: string]>([
  [10, [1, 'TRACE']],
  [20, [5, 'DEBUG']],
  [30, [9, 'INFO']],
  [40, [13, 'WARN']],
  [50, [17, 'ERROR']],
  [60, [21, 'FATAL']],
]);

/** Undefined for a line that is no record. */
export const toLogRecord = (line: string): LogRecord | undefined => {
  const fields = parse(line);
  if (!isRecord(fields) || !isWithin(fields, depthMax)) return undefined;
  const own = levelAndTime(line);
  const { level, time, msg, err, ...rest } = fields;
  const { trace_id, span_id, ...others } = rest;
  const [severityNumber, severityText] = severities.get(own.level) ?? [];
  const context = spanContextOf(trace_id, span_id);
  return {
    timestamp: millisToHrTime(own.time ?? Date.now()),
    ...(severityNumber === undefined ? {} : { severityNumber, severityText: severityText ?? '' }),
    ...(typeof msg === 'string' ? { body: msg } : {}),
    attributes: {
      ...(context ? others : rest),
      // The caller's fields with these names: in the line they stand behind those of the logger.
      ...(level === own.level ? {} : { level }),
      ...(time === own.time ? {} : { time }),
      ...exceptionOf(err),
    } as Attributes,
    // Never the context that is active here: it may be that of a program that contains the server.
    context: context ?? ROOT_CONTEXT,
  };
};

const parse = (line: string): unknown => {
  try {
    return JSON.parse(line);
  } catch {
    // Not written by the logger.
    return undefined;
  }
};

const isWithin = (value: unknown, depth: number): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (depth > 0 && Object.values(value).every((inner) => isWithin(inner, depth - 1)));

/** The ids become fields of the record. */
const spanContextOf = (traceId: unknown, spanId: unknown): Context | undefined => {
  if (typeof traceId !== 'string' || !/^[\da-f]{32}$/.test(traceId)) return undefined;
  if (typeof spanId !== 'string' || !/^[\da-f]{16}$/.test(spanId)) return undefined;
  // The log has ids of spans that are sent only.
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: 1 });
};

/** An error by the names of the semantic conventions, and its other fields. */
const exceptionOf = (err: unknown): Record<string, unknown> => {
  if (!isRecord(err)) return err === undefined ? {} : { err };
  const { type, message, stack, ...others } = err;
  const exception = { 'exception.type': type, 'exception.message': message, 'exception.stacktrace': stack };
  return {
    ...Object.fromEntries(Object.entries(exception).filter(([, value]) => value !== undefined)),
    ...(Object.keys(others).length === 0 ? {} : { err: others }),
  };
};
