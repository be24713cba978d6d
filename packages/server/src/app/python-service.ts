// A Python process of the server itself, for the auth object or the app of the project. It is started again after it has ended; calls fail
// until it is ready.
import type { Logger } from 'pino';
import { Problem } from '@svc/contract/problem';
import { executorEnvironment } from '../config/environment.ts';
import { exportError, type ProjectModule } from '../config/project/project-export.ts';
import type { PythonLaunch } from '../config/project/python.ts';
import type { Frame, FrameHeader } from '../engine/python/frames.ts';
import { logPython } from '../engine/python/python-log.ts';
import { PythonEnded, PythonProcess, type PythonReply } from '../engine/python/python-process.ts';

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
/** Delays before the process is started again; the first one after it has worked for `healthyMs`. */
const delaysMs = [0, 250, 1_000, 5_000, 10_000];
const healthyMs = 60_000;

export class PythonService implements AsyncDisposable {
  readonly #options: PythonServiceOptions;
  readonly #logger: Logger;
  #process: PythonProcess;
  #startedAt = 0;
  #ends = 0;
  #isOpen = false;
  #isChecking = false;
  #timer: NodeJS.Timeout | undefined;
  /** What the first process has reported when it was ready. */
  header: FrameHeader = { kind: 'ready' };

  private constructor(options: PythonServiceOptions) {
    this.#options = options;
    this.#logger = options.logger.child({ process: options.work });
    this.#process = this.#start();
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
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOpen = false;
    clearTimeout(this.#timer);
    await this.#process.end();
  }

  /** The process, when it is ready. Throws `unavailable` while there is none. */
  async process(): Promise<PythonProcess> {
    const process = this.#process;
    try {
      await process.ready;
      if (!process.isAlive) throw new PythonEnded('The Python process has ended');
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
    const process = this.#process;
    try {
      this.header = await process.ready;
    } catch (error) {
      const { message = (error as Error).message, files = [] } = process.setupError ?? {};
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

  #start(): PythonProcess {
    const { work, source, launch, setup, onFrame } = this.#options;
    const logger = this.#logger;
    this.#startedAt = Date.now();
    const { file, export: name } = source;
    const process: PythonProcess = new PythonProcess({
      python: launch.interpreter,
      env: executorEnvironment(),
      setup: { work, paths: launch.paths, source: { file, export: name }, ...setup },
      onFrame: (frame) => {
        if (frame.header.kind === 'log') return logPython(logger, frame.header);
        return onFrame?.(frame, process);
      },
      onLine: (line) => logger.info(line),
      onEnd: (reason) => this.#onEnd(process, reason),
    });
    const timer = setTimeout(() => process.kill(), startMs);
    const stop = (): void => clearTimeout(timer);
    process.ready.then(stop, stop);
    return process;
  }

  #onEnd(process: PythonProcess, reason: string): void {
    this.#options.onLost?.(process);
    if (!this.#isOpen) return;
    this.#ends = Date.now() - this.#startedAt > healthyMs ? 0 : this.#ends + 1;
    const delayMs = delaysMs[Math.min(this.#ends, delaysMs.length - 1)];
    const text = `the ${this.#options.work} process has ended, starting it again`;
    this.#logger.error({ reason, delayMs }, text);
    this.#timer = setTimeout(() => {
      this.#process = this.#start();
    }, delayMs);
    this.#timer.unref();
  }

  /** Ends the process when its event loop does not respond. Only for a process that is ready: an import blocks the event loop too. */
  async check(process: PythonProcess): Promise<void> {
    if (this.#isChecking || !process.isAlive) return;
    this.#isChecking = true;
    const timer = setTimeout(() => {
      const text = `the ${this.#options.work} process does not respond: its code blocks its event loop`;
      this.#logger.error(text);
      process.kill();
    }, pingMs);
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
