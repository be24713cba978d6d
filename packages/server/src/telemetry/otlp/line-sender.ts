// Sends lines of the log with the SDK of OpenTelemetry, which makes the batches and repeats failed requests. It limits the number of
// records that wait but not their bytes, and does not count those that it drops: `WaitingLines` does both.
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import {
  BatchLogRecordProcessor,
  LoggerProvider,
  type LogRecordExporter,
  type ReadableLogRecord,
} from '@opentelemetry/sdk-logs';
import type { OtlpReceiver, TelemetrySettings } from '../../config/settings/telemetry-settings.ts';
import { type WaitingLines, waitingLinesMax } from '../waiting-lines.ts';
import { FailureLog, type WarningLog } from './failure-log.ts';
import { toLogRecord } from './log-record.ts';
import { logExporter } from './otlp-exporters.ts';
import { type ServerIdentity, serverResource } from './server-resource.ts';

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
