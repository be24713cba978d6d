// The exporters of this server process: forked when there is something to do, kept for a while when there is not. Each does one thing
// at a time, so that what ends one costs one attempt.
import type { Logger } from 'pino';
import type { ExporterSetup, ExportCommand } from '../exporter/exporter-protocol.ts';
import { ExporterProcess, exporterProgram, type CommandEvents } from './exporter-process.ts';

export interface ExporterPoolOptions {
  setup: ExporterSetup;
  /** Processes at once. */
  slots: number;
  /** What they run; for tests that have one of their own. */
  program?: string;
  idleMs?: number;
  logger: Logger;
}

const idleDefaultMs = 60_000;

export class ExporterPool implements AsyncDisposable {
  readonly #options: ExporterPoolOptions;
  readonly #exporters = new Set<ExporterProcess>();
  /** Those that wait for an order, and when they have waited enough. */
  readonly #idle = new Map<ExporterProcess, NodeJS.Timeout>();
  /** Those that have waited enough: killed, and not gone yet. */
  readonly #leaving = new Set<ExporterProcess>();
  #isClosing = false;
  /** How many exporters have ended by themselves. */
  crashes = 0;

  constructor(options: ExporterPoolOptions) {
    this.#options = options;
  }

  get freeSlots(): number {
    return this.#options.slots - this.#exporters.size + this.#idle.size;
  }

  pids(): number[] {
    return [...this.#exporters].flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
  }

  /** The caller has made sure that there is a free slot. */
  run(command: ExportCommand, events: CommandEvents): ExporterProcess {
    const [idle] = this.#idle.keys();
    const exporter = idle ?? this.#fork();
    this.#wake(exporter);
    exporter.run(command, {
      onFile: events.onFile,
      onLost: events.onLost,
      onOutcome: (outcome) => {
        this.#rest(exporter);
        events.onOutcome(outcome);
      },
    });
    return exporter;
  }

  /** Ends all of them at once. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    await Promise.all([...this.#exporters, ...this.#leaving].map((exporter) => exporter.end()));
  }

  #fork(): ExporterProcess {
    const { setup, program = exporterProgram, logger } = this.#options;
    const exporter = new ExporterProcess(program, setup, logger, (reason) => {
      const isWanted = this.#leaving.delete(exporter) || this.#idle.has(exporter) || this.#isClosing;
      this.#wake(exporter);
      this.#exporters.delete(exporter);
      if (isWanted) return;
      this.crashes += 1;
      logger.error({ reason }, 'an exporter ended');
    });
    this.#exporters.add(exporter);
    return exporter;
  }

  #rest(exporter: ExporterProcess): void {
    const timer = setTimeout(() => this.#retire(exporter), this.#options.idleMs ?? idleDefaultMs);
    timer.unref();
    this.#idle.set(exporter, timer);
  }

  /** What is ordered before it is gone must go to another. */
  #retire(exporter: ExporterProcess): void {
    this.#idle.delete(exporter);
    this.#exporters.delete(exporter);
    this.#leaving.add(exporter);
    exporter.kill();
  }

  #wake(exporter: ExporterProcess): void {
    clearTimeout(this.#idle.get(exporter));
    this.#idle.delete(exporter);
  }
}
