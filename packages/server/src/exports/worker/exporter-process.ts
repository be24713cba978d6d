// The server process's side of one exporter: starts it, sends an order, receives its outcome, notices its end.
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { executorEnvironment } from '../../config/environment.ts';
import { SpawnedProcess } from '../../jobs/spawned-process.ts';
import { parseFromExporter } from './exporter-message.ts';
import type {
  ExporterSetup,
  ExportCommand,
  ExportOutcome,
  StopHow,
  ToExporter,
  WrittenFigures,
} from '../exporter/exporter-protocol.ts';

export interface CommandEvents {
  onFile: (file: WrittenFigures) => void;
  onOutcome: (outcome: ExportOutcome) => void;
  /** In place of an outcome: the process has ended. */
  onLost: (reason: string) => void;
}

/** The same path from src/platform/exports and from dist/platform/exports. */
export const exporterProgram = fileURLToPath(new URL('../../../bin/exporter.js', import.meta.url));

export class ExporterProcess {
  readonly #child: SpawnedProcess;
  readonly #logger: Logger;
  readonly #exited: Promise<void>;
  #events: CommandEvents | undefined;
  #hasSentNonsense = false;

  constructor(program: string, setup: ExporterSetup, logger: Logger, onExit: (reason: string) => void) {
    this.#logger = logger;
    let exited!: () => void;
    this.#exited = new Promise((resolve) => (exited = resolve));
    this.#child = new SpawnedProcess({
      program,
      // Every exporter would print the warning.
      env: { ...executorEnvironment(), AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' },
      onMessage: (message) => this.#receive(message),
      onEnd: (reason) => {
        const events = this.#events;
        this.#events = undefined;
        onExit(reason);
        events?.onLost(reason);
        exited();
      },
    });
    this.#send({ kind: 'setup', setup });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** One at a time. */
  run(command: ExportCommand, events: CommandEvents): void {
    this.#events = events;
    this.#send({ kind: 'execute', command });
  }

  stop(how: StopHow): void {
    this.#send({ kind: 'stop', how });
  }

  /** Ends the process at once, whatever it does. */
  kill(): void {
    this.#child.kill();
  }

  async end(): Promise<void> {
    this.kill();
    await this.#exited;
  }

  #send(message: ToExporter): void {
    this.#child.send(message);
  }

  #receive(value: unknown): void {
    const message = parseFromExporter(value);
    if (message === undefined) {
      if (!this.#hasSentNonsense) this.#logger.error({ pid: this.pid }, 'exporter sent an unknown message');
      this.#hasSentNonsense = true;
      return;
    }
    if (message.kind === 'file') this.#events?.onFile(message);
    if (message.kind !== 'outcome') return;
    const events = this.#events;
    this.#events = undefined;
    events?.onOutcome(message.outcome);
  }
}
