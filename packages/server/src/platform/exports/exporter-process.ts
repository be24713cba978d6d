// The server process's side of one exporter: fork, give an order, hear what came of it, notice its end.
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { executorEnvironment } from '../../config/env.ts';
import type {
  ExporterSetup,
  ExportOrder,
  ExportOutcome,
  FromExporter,
  StopHow,
  ToExporter,
  WrittenFigures,
} from './exporter-protocol.ts';

export interface OrderEvents {
  onFile: (file: WrittenFigures) => void;
  onOutcome: (outcome: ExportOutcome) => void;
  /** In place of an outcome: the process has ended. */
  onLost: (reason: string) => void;
}

/** The same path from src/platform/exports and from dist/platform/exports. */
export const exporterProgram = fileURLToPath(new URL('../../../bin/exporter.js', import.meta.url));

export class ExporterProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  #events: OrderEvents | undefined;
  #isGone = false;

  constructor(program: string, setup: ExporterSetup, onExit: (reason: string) => void) {
    this.#child = fork(program, [], {
      // It would be said by every exporter.
      env: { ...executorEnvironment(), AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' },
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#child.on('message', (message: FromExporter) => this.#receive(message));
    this.#exited = new Promise((resolve) => {
      const onEnd = (reason: string): void => {
        if (this.#isGone) return;
        this.#isGone = true;
        const events = this.#events;
        this.#events = undefined;
        onExit(reason);
        events?.onLost(reason);
        resolve();
      };
      this.#child.once('exit', (code, signal) => onEnd(signal ? `signal ${signal}` : `exit code ${code}`));
      this.#child.once('error', (error) => onEnd(error.message));
    });
    this.#send({ kind: 'setup', setup });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** One at a time. */
  run(order: ExportOrder, events: OrderEvents): void {
    this.#events = events;
    this.#send({ kind: 'order', order });
  }

  stop(how: StopHow): void {
    this.#send({ kind: 'stop', how });
  }

  /** Ends the process at once, whatever it does. */
  kill(): void {
    if (!this.#isGone) this.#child.kill('SIGKILL');
  }

  async end(): Promise<void> {
    this.kill();
    await this.#exited;
  }

  #send(message: ToExporter): void {
    // A failed send means the process is ending; its 'exit' tells what was lost.
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  #receive(message: FromExporter): void {
    if (message.kind === 'file') this.#events?.onFile(message);
    if (message.kind !== 'outcome') return;
    const events = this.#events;
    this.#events = undefined;
    events?.onOutcome(message.outcome);
  }
}
