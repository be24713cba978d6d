// A Python process of the server itself, for the auth object or the app of the project. It is replaced after it has ended; calls fail until
// the new one is ready.
import type { Logger } from 'pino';
import { Problem } from '@svc/contract/problem';
import { executorEnvironment } from '../config/environment.ts';
import { exportError, type ProjectModule } from '../config/project/project-export.ts';
import type { PythonLaunch } from '../config/project/python.ts';
import type { Frame, FrameHeader } from '../engine/python/frames.ts';
import { logPython } from '../engine/python/python-log.ts';
import { PythonEnded, PythonProcess, type PythonReply } from '../engine/python/python-process.ts';
import { type PooledProcess, ProcessPool } from '../jobs/process-pool.ts';

export interface PythonServiceOptions {
  /** The work of the process, and its name in the log. */
  work: 'auth' | 'app';
  source: ProjectModule;
  launch: PythonLaunch;
  /** Further fields of the setup. */
  setup?: Record<string, unknown>;
  onFrame?: (frame: Frame, process: PythonProcess) => Promise<PythonReply> | void;
  /** A process has ended. */
  onLost?: (process: PythonProcess) => void;
  logger: Logger;
  onModules: ((files: string[]) => void) | undefined;
}

/** A process that is not ready by then is ended: an import of its file hangs. */
const startMs = 120_000;
/** How long a blocked event loop has to respond. */
const pingMs = 2_000;

/** `killReason`: why the server has ended it. */
class ServiceProcess extends PythonProcess implements PooledProcess {
  killReason: string | undefined;

  killFor(reason: string): void {
    this.killReason ??= reason;
    this.kill();
  }

  stop(): Promise<void> {
    return this.end();
  }
}

export class PythonService implements AsyncDisposable {
  readonly #options: PythonServiceOptions;
  readonly #logger: Logger;
  readonly #pool: ProcessPool<ServiceProcess>;
  #isOpen = false;
  #isChecking = false;
  /** What the first process has reported when it was ready. */
  header: FrameHeader = { kind: 'ready' };

  private constructor(options: PythonServiceOptions) {
    this.#options = options;
    this.#logger = options.logger.child({ process: options.work });
    this.#pool = new ProcessPool({
      name: `the ${options.work} process`,
      start: (onEnd) => this.#start(onEnd),
      keep: 1,
      logger: this.#logger,
    });
  }

  /** Throws a ConfigError when the file cannot be used: the server does not start without it. */
  static async open(options: PythonServiceOptions): Promise<PythonService> {
    const service = new PythonService(options);
    try {
      await service.#open();
      return service;
    } catch (error) {
      await service[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Ends the process at once. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#pool[Symbol.asyncDispose]();
  }

  /** The process, when it is ready. Throws `unavailable` while there is none. */
  async process(): Promise<ServiceProcess> {
    const [process] = this.#pool.active;
    try {
      await process?.ready;
      if (!process?.isAlive) throw new PythonEnded('The Python process has ended');
      return process;
    } catch (error) {
      throw this.#unavailable(error);
    }
  }

  /** Throws `unavailable` when the process ends. Checks after `lateMs` whether the process still responds. */
  async call(header: FrameHeader, parts: string[] | undefined, lateMs: number): Promise<Frame> {
    const process = await this.process();
    const timer = setTimeout(() => void this.check(process), lateMs);
    timer.unref();
    try {
      return await process.call(header, parts);
    } catch (error) {
      throw error instanceof PythonEnded ? this.#unavailable(error) : error;
    } finally {
      clearTimeout(timer);
    }
  }

  #unavailable(cause: unknown): Problem {
    if (cause instanceof Problem) return cause;
    const message = `The ${this.#options.work} process has ended and is started again`;
    return new Problem('unavailable', message, { cause });
  }

  async #open(): Promise<void> {
    const { source, onModules } = this.#options;
    const [process] = this.#pool.active;
    try {
      this.header = (await process?.ready) ?? this.header;
    } catch (error) {
      const { message = (error as Error).message, files = [] } = process?.setupError ?? {};
      onModules?.(files);
      throw exportError(
        source,
        `${source.file} cannot be loaded: ${message}`,
        'Fix the file; the server does not start without it.',
      );
    }
    onModules?.(this.header['modules'] as string[]);
    this.#isOpen = true;
  }

  #start(onEnd: (reason: string) => void): ServiceProcess {
    const { work, source, launch, setup, onFrame, onLost } = this.#options;
    const logger = this.#logger;
    const { file, export: name } = source;
    const process: ServiceProcess = new ServiceProcess({
      python: launch.interpreter,
      env: executorEnvironment(),
      setup: { work, paths: launch.paths, source: { file, export: name }, ...setup },
      onFrame: (frame) => {
        if (frame.header.kind === 'log') return logPython(logger, frame.header);
        return onFrame?.(frame, process);
      },
      onLine: (line) => logger.info(line),
      onEnd: (reason) => {
        onLost?.(process);
        // Before, open() reports it.
        if (this.#isOpen) onEnd(reason);
      },
    });
    const timer = setTimeout(() => process.killFor(`it was not ready after ${startMs / 1_000} s`), startMs);
    const stop = (): void => clearTimeout(timer);
    process.ready.then(stop, stop);
    return process;
  }

  /** Ends the process when its event loop does not respond. Only for a process that is ready: an import blocks the event loop too. */
  async check(process: ServiceProcess): Promise<void> {
    if (this.#isChecking || !process.isAlive) return;
    this.#isChecking = true;
    const timer = setTimeout(
      () => process.killFor('it does not respond: its code blocks its event loop'),
      pingMs,
    );
    try {
      await process.call({ kind: 'ping' });
    } catch {
      // it has ended, which onEnd reports
    } finally {
      clearTimeout(timer);
      this.#isChecking = false;
    }
  }
}
