// Sends lines of the log with the SDK of OpenTelemetry, which makes the batches and repeats failed requests. It limits the number of
// records that wait but not their bytes, and does not count those that it drops: `WaitingLines` does both.
import { type ExportResult, ExportResultCode, millisToHrTime } from '@opentelemetry/core';
import {
  BatchLogRecordProcessor,
  LoggerProvider,
  type LogRecordExporter,
  type ReadableLogRecord,
} from '@opentelemetry/sdk-logs';
import { type Context, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import type { OtlpReceiver, TelemetrySettings } from '../../config/settings/telemetry-settings.ts';
import { type WaitingLines, waitingLinesMax } from '../waiting-lines.ts';
import { FailureLog, type WarningLog } from './failure-log.ts';
import { logExporter } from './otlp-exporters.ts';
import { type ServerIdentity, serverResource } from './server-resource.ts';
import { levelAndTime } from '../log-lines.ts';
import { isRecord } from '../../json/is-record.ts';

/** Sends lines in batches. */
export interface LineSender {
  send(line: string): void;
  /** Resolves when all lines are sent, or have failed. */
  shutdown(): Promise<void>;
}

const batchRecordsMax = 512;

interface SenderOptions {
  settings: TelemetrySettings;
  server: ServerIdentity;
  waiting: WaitingLines;
  /** For failures to send. */
  logger: WarningLog;
}

export const startLineSender = (
  receiver: OtlpReceiver,
  { settings, server, waiting, logger }: SenderOptions,
): LineSender => {
  const failures = new FailureLog('failed to send log records', receiver.url, logger);
  const provider = new LoggerProvider({
    resource: serverResource(settings, server),
    processors: [
      new BatchLogRecordProcessor({
        exporter: new CountingExporter(logExporter(receiver, failures), waiting),
        scheduledDelayMillis: settings.logDelayMs,
        maxQueueSize: waitingLinesMax,
        maxExportBatchSize: batchRecordsMax,
      }),
    ],
  });
  const records = provider.getLogger('svc', server.version);
  return {
    // A line that is not JSON is sent as text, so that the counts of WaitingLines stay correct.
    send: (line) => records.emit(toLogRecord(line) ?? { body: line.trimEnd() }),
    shutdown: () => provider.shutdown(),
  };
};

/** The processor sends one batch at a time, oldest records first. */
class CountingExporter implements LogRecordExporter {
  readonly #exporter: LogRecordExporter;
  readonly #waiting: WaitingLines;

  constructor(exporter: LogRecordExporter, waiting: WaitingLines) {
    this.#exporter = exporter;
    this.#waiting = waiting;
  }

  export(records: ReadableLogRecord[], onResult: (result: ExportResult) => void): void {
    const end = (result: ExportResult): void => {
      this.#waiting.remove(records.length, result.code === ExportResultCode.SUCCESS);
      onResult(result);
    };
    try {
      this.#exporter.export(records, end);
    } catch (error) {
      // The records could not be serialised.
      end({ code: ExportResultCode.FAILED, error: error as Error });
    }
  }

  forceFlush(): Promise<void> {
    return this.#exporter.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }
}

// Converts lines of the log to log records of OpenTelemetry.

type LogRecord = Parameters<ReturnType<LoggerProvider['getLogger']>['emit']>[0];

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
      // The caller's fields `level` and `time`. The logger's fields of these names come first in the line.
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
