// Sends the lines of the log to a receiver of OTLP. It opens before everything else of a server and closes after it, so that lines of the
// start and of the stop are sent. Lines wait in memory within limits; later ones are dropped and counted. Nothing waits for the receiver.
import type { Logger } from 'pino';
import type { OtlpReceiver, TelemetrySettings } from '../config/settings/telemetry-settings.ts';
import { packageVersion } from '../config/package-files.ts';
import { closedInTime } from './closed-in-time.ts';
import { linesOf, sentLine } from './log-lines.ts';
import { FailureLog, type WarningLog } from './otlp/failure-log.ts';
import type { LineSender } from './otlp/line-sender.ts';
import { WaitingLines } from './waiting-lines.ts';

interface LogExportOptions {
  settings: TelemetrySettings;
  receiver: OtlpReceiver;
  instanceId: string;
  logger: Logger;
}

/** Undefined when the log is not sent. */
export const openLogExport = (
  settings: TelemetrySettings,
  from: Pick<LogExportOptions, 'instanceId' | 'logger'>,
): LogExport | undefined => settings.logs && new LogExport({ settings, receiver: settings.logs, ...from });

export class LogExport implements AsyncDisposable {
  readonly #options: LogExportOptions;
  readonly #waiting = new WaitingLines();
  readonly #reading: Disposable | undefined;
  /** What fails here is in the local log only: sent, it would fail again. */
  readonly #localLog: WarningLog;
  readonly #drops: FailureLog;
  /** Lines until the sender is loaded. */
  #early: string[] = [];
  #sender: LineSender | undefined;
  #opening: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: LogExportOptions) {
    this.#options = options;
    const { receiver, logger } = options;
    this.#localLog = { warn: (fields, message) => this.#logLocally(() => logger.warn(fields, message)) };
    this.#drops = new FailureLog('dropped log records', receiver.url, this.#localLog);
    this.#reading = linesOf(logger)?.read((line) => this.add(line));
  }

  /** Lines that were not sent, since the start. */
  get lost(): { dropped: number; failed: number } {
    const { dropped, failed } = this.#waiting;
    return { dropped, failed };
  }

  /** `dropped`: lines before it that another process has dropped. */
  add(given: string, dropped = 0): void {
    this.#waiting.dropped += dropped;
    if (this.#isClosed) return;
    const line = sentLine(given);
    if (!this.#waiting.add(Buffer.byteLength(line))) return this.#drops.report('too many wait to be sent');
    if (this.#sender) return this.#sender.send(line);
    this.#early.push(line);
    // The SDK of OpenTelemetry is loaded when the first batch is due, not while the server starts.
    this.#timer ??= setTimeout(() => void this.#open(), this.#options.settings.logDelayMs).unref();
  }

  #open(): Promise<void> {
    return (this.#opening ??= this.#load());
  }

  async #load(): Promise<void> {
    try {
      await this.#startSender();
    } catch (err) {
      this.#logLocally(() => this.#options.logger.error({ err }, 'failed to load the exporter of the log'));
    }
  }

  async #startSender(): Promise<void> {
    const { settings, receiver, instanceId } = this.#options;
    const { startLineSender } = await import('./otlp/line-sender.ts');
    const sender = startLineSender(receiver, {
      settings,
      server: { version: packageVersion(), instanceId },
      waiting: this.#waiting,
      logger: this.#localLog,
    });
    for (const line of this.#early) sender.send(line);
    this.#early = [];
    this.#sender = sender;
  }

  #logLocally(work: () => void): void {
    const lines = linesOf(this.#options.logger);
    if (lines) lines.withoutReaders(work);
    else work();
  }

  /** Sends the lines that wait, within a time limit. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#reading?.[Symbol.dispose]();
    this.#isClosed = true;
    clearTimeout(this.#timer);
    if (this.#early.length === 0 && this.#opening === undefined) return;
    const closing = this.#open().then(() => this.#sender?.shutdown());
    if (!(await closedInTime(closing)))
      this.#logLocally(() => this.#options.logger.warn('the last log records could not be sent in time'));
  }
}
