// The server's side of one exporter: it executes one command at a time.
import type { Logger } from 'pino';
import { executorEnvironment } from '../../config/environment.ts';
import { programFile } from '../../config/programs.ts';
import type { PooledProcess } from '../../jobs/process-pool.ts';
import { ProgramProcess } from '../../jobs/program-process.ts';
import { fallbackReasons } from '../../storage/replica/fallback.ts';
import type {
  ExportCommand,
  ExporterSetup,
  ExportOutcome,
  FromExporter,
  ReplicaFigures,
  StopHow,
  ToExporter,
  WrittenFigures,
} from '../exporter/exporter-protocol.ts';

export interface CommandEvents {
  onFile: (file: WrittenFigures) => void;
  onReplica: (figures: ReplicaFigures) => void;
  onOutcome: (outcome: ExportOutcome) => void;
  /** Called instead of onOutcome when the process ends. */
  onLost: (reason: string) => void;
}

export const exporterProgram = programFile('exporter.js');

export class ExporterProcess implements PooledProcess {
  readonly #child: ProgramProcess<ToExporter, FromExporter>;
  #events: CommandEvents | undefined;
  killReason: string | undefined;

  constructor(program: string, setup: ExporterSetup, logger: Logger, onExit: (reason: string) => void) {
    this.#child = new ProgramProcess({
      name: 'exporter',
      program,
      // Otherwise every exporter prints the warning of the AWS SDK about the Node version.
      env: { ...executorEnvironment(), AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' },
      parse: parseFromExporter,
      onMessage: (message) => {
        if (message.kind === 'file') this.#events?.onFile(message);
        else if (message.kind === 'replica') this.#events?.onReplica(message);
        else this.#finish()?.onOutcome(message.outcome);
      },
      onEnd: (reason) => {
        const events = this.#finish();
        onExit(reason);
        events?.onLost(reason);
      },
      logger,
    });
    this.#child.send({ kind: 'setup', setup });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get ready(): Promise<void> {
    return this.#child.ready;
  }

  run(command: ExportCommand, events: CommandEvents): void {
    this.#events = events;
    this.#child.send({ kind: 'execute', command });
  }

  /** Stops the current command. */
  interrupt(how: StopHow): void {
    this.#child.send({ kind: 'stop', how });
  }

  /** Ends the process immediately. */
  kill(reason: string): void {
    this.killReason = reason;
    this.#child.kill();
  }

  stop(): Promise<void> {
    return this.#child.end();
  }

  /** Ends the current command and returns its callbacks; undefined when there is none. */
  #finish(): CommandEvents | undefined {
    const events = this.#events;
    this.#events = undefined;
    return events;
  }
}

type Fields = Record<string, unknown>;

/** Checks a message of an exporter before the server process acts on it. Returns undefined when the value is not a valid message. */
const parseFromExporter = (value: unknown): FromExporter | undefined => {
  if (!isObject(value)) return undefined;
  switch (value['kind']) {
    case 'ready':
      return { kind: 'ready' };
    case 'file':
      return ['rows', 'bytes', 'raw_bytes'].every((name) => Number.isFinite(value[name]))
        ? (value as FromExporter)
        : undefined;
    case 'replica':
      return Number.isFinite(value['reads']) && (value['fallback'] === null || isReason(value['fallback']))
        ? (value as FromExporter)
        : undefined;
    case 'outcome':
      return isOutcome(value['outcome']) ? (value as FromExporter) : undefined;
    default:
      return undefined;
  }
};

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

const reasons: ReadonlySet<unknown> = new Set(fallbackReasons);

const isReason = (value: unknown): boolean => reasons.has(value);

const withoutDetail: ReadonlySet<unknown> = new Set<ExportOutcome['kind']>(['done', 'fenced', 'stopped']);

const isOutcome = (outcome: unknown): boolean =>
  isObject(outcome) &&
  (withoutDetail.has(outcome['kind']) ||
    (outcome['kind'] === 'failed' &&
      ['cause', 'message', 'detail'].every((name) => typeof outcome[name] === 'string')));
