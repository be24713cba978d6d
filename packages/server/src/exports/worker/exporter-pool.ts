// The exporters of this server process. They are started on demand and stopped after `idleMs` without work. Each executes one command
// at a time, so a crash of an exporter affects one attempt.
import type { Logger } from 'pino';
import { ProcessPool } from '../../jobs/process-pool.ts';
import type { ExporterSetup, ExportCommand } from '../exporter/exporter-protocol.ts';
import { ExporterProcess, exporterProgram, type CommandEvents } from './exporter-process.ts';

export interface ExporterPoolOptions {
  setup: ExporterSetup;
  /** Maximum number of processes. */
  slots: number;
  /** The program of the processes; tests use their own. */
  program?: string;
  idleMs?: number;
  logger: Logger;
}

const idleDefaultMs = 60_000;

export class ExporterPool implements AsyncDisposable {
  readonly #slots: number;
  readonly #pool: ProcessPool<ExporterProcess>;

  constructor({
    setup,
    slots,
    program = exporterProgram,
    idleMs = idleDefaultMs,
    logger,
  }: ExporterPoolOptions) {
    this.#slots = slots;
    this.#pool = new ProcessPool({
      name: 'exporter',
      start: (onEnd) => new ExporterProcess(program, setup, logger, onEnd),
      idleMs,
      logger,
    });
  }

  /** Number of exporters that ended without being stopped. */
  get crashes(): number {
    return this.#pool.crashes;
  }

  get freeSlots(): number {
    return this.#slots - this.#pool.active.size + this.#pool.idle;
  }

  pids(): number[] {
    return [...this.#pool.active].flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
  }

  /** The caller must check that there is a free slot. */
  run(command: ExportCommand, events: CommandEvents): ExporterProcess {
    const exporter = this.#pool.takeIdle() ?? this.#pool.start();
    exporter.run(command, {
      ...events,
      onOutcome: (outcome) => {
        this.#pool.rest(exporter);
        events.onOutcome(outcome);
      },
    });
    return exporter;
  }

  /** Ends all of them at once. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#pool[Symbol.asyncDispose]();
  }
}
