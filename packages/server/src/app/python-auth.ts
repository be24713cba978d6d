// The project's auth object in Python. It has a process of its own, which is never one that executes graphs. The process is started again
// after it has ended; requests are refused until it is ready.
import type { Logger } from 'pino';
import { Problem } from '@svc/contract/problem';
import {
  type AuthDefinition,
  type Handler,
  type HandlerContext,
  unknownHandlers,
} from '../auth/handlers/auth-definition.ts';
import { AuthHandlerError } from '../auth/handlers/handler-call.ts';
import { executorEnvironment } from '../config/environment.ts';
import { exportError, type ProjectModule } from '../config/project/project-export.ts';
import type { PythonLaunch } from '../config/project/python.ts';
import type { Frame, FrameHeader } from '../engine/python/frames.ts';
import { logPython } from '../engine/python/python-log.ts';
import { PythonEnded, PythonProcess } from '../engine/python/python-process.ts';

interface PythonAuthOptions {
  source: ProjectModule;
  launch: PythonLaunch;
  timeoutMs: number;
  /** Whether the object needs an authenticate handler. */
  authenticates: boolean;
  logger: Logger;
  onModules: ((files: string[]) => void) | undefined;
}

const startMs = 120_000;
/** How long a reply may be late before the process is checked, and how long that check takes. */
const lateMs = 1_000;
const pingMs = 2_000;
/** Delays before the process is started again; the first one after it has worked for `healthyMs`. */
const delaysMs = [0, 250, 1_000, 5_000, 10_000];
const healthyMs = 60_000;

export class PythonAuth implements AsyncDisposable {
  readonly #options: PythonAuthOptions;
  #process: PythonProcess;
  #startedAt = 0;
  #ends = 0;
  #isOpen = false;
  #isChecking = false;
  #timer: NodeJS.Timeout | undefined;
  /** Calls the process. */
  readonly definition: AuthDefinition;

  private constructor(options: PythonAuthOptions) {
    this.#options = options;
    this.#process = this.#start();
    this.definition = {
      authenticate: (request) => this.#authenticate(request),
      handlers: new Map(),
    };
  }

  /** Throws a ConfigError when the auth object cannot be used: the server does not start without it. */
  static async open(options: PythonAuthOptions): Promise<PythonAuth> {
    const auth = new PythonAuth(options);
    try {
      await auth.#open();
      return auth;
    } catch (error) {
      await auth[Symbol.asyncDispose]();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOpen = false;
    clearTimeout(this.#timer);
    await this.#process.end();
  }

  async #open(): Promise<void> {
    const { source, onModules } = this.#options;
    const process = this.#process;
    const timer = setTimeout(() => process.kill(), startMs);
    let header: FrameHeader;
    try {
      header = await process.ready;
    } catch (error) {
      const { message = (error as Error).message, files = [] } = process.setupError ?? {};
      onModules?.(files);
      throw exportError(
        source,
        `${source.file} cannot be loaded: ${message}`,
        'Fix the file; the server does not start without it.',
      );
    } finally {
      clearTimeout(timer);
    }
    const keys = header['handlers'] as string[];
    const [unknown] = unknownHandlers(keys);
    if (unknown !== undefined)
      throw exportError(
        source,
        `${source.export} in ${source.file} has a handler for "${unknown}", which is no known event`,
        'Register handlers for existing resources and actions.',
      );
    for (const key of keys) (this.definition.handlers as Map<string, Handler>).set(key, this.#handlerOf(key));
    onModules?.(header['modules'] as string[]);
    this.#isOpen = true;
  }

  #start(): PythonProcess {
    const { source, launch, authenticates, logger } = this.#options;
    const log = logger.child({ process: 'auth' });
    this.#startedAt = Date.now();
    const { file, export: name } = source;
    const child = new PythonProcess({
      python: launch.interpreter,
      env: executorEnvironment(),
      setup: { work: 'auth', paths: launch.paths, source: { file, export: name }, authenticates },
      onFrame: ({ header }) => void (header.kind === 'log' && logPython(log, header)),
      onLine: (line) => log.info(line),
      onEnd: (reason) => this.#onEnd(reason),
    });
    return child;
  }

  #onEnd(reason: string): void {
    if (!this.#isOpen) return;
    this.#ends = Date.now() - this.#startedAt > healthyMs ? 0 : this.#ends + 1;
    const delayMs = delaysMs[Math.min(this.#ends, delaysMs.length - 1)];
    this.#options.logger.error({ reason, delayMs }, 'the auth process has ended, starting it again');
    this.#timer = setTimeout(() => {
      this.#process = this.#start();
    }, delayMs);
    this.#timer.unref();
  }

  async #authenticate(request: Request): Promise<unknown> {
    const { parts } = await this.#call({ kind: 'authenticate', request: requestFields(request) });
    return JSON.parse(String(parts[0])) as unknown;
  }

  #handlerOf(key: string): Handler {
    return async ({ resource, action, user }: HandlerContext, value: unknown) => {
      const { header, parts } = await this.#call(
        { kind: 'authorize', handler: key, resource, action, user },
        [JSON.stringify(value)],
      );
      const [decision, changed] = parts.map((part) => JSON.parse(String(part)) as unknown);
      change(value as object, changed as object, header['removed'] as string[]);
      return decision;
    };
  }

  /** Throws `unavailable` while there is no process, and what the handler has raised. */
  async #call(header: FrameHeader, parts?: string[]): Promise<Frame> {
    const { timeoutMs } = this.#options;
    const process = this.#process;
    const timer = setTimeout(() => void this.#check(process), timeoutMs + lateMs);
    timer.unref();
    try {
      await process.ready;
      const frame = await process.call({ ...header, timeout_ms: timeoutMs }, parts);
      return assertDone(frame);
    } catch (error) {
      if (!(error instanceof PythonEnded)) throw error;
      throw new Problem('unavailable', 'The auth process has ended and is started again', { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends a process whose event loop is blocked: no handler of it would ever answer. */
  async #check(process: PythonProcess): Promise<void> {
    if (this.#isChecking || !process.isAlive) return;
    this.#isChecking = true;
    const timer = setTimeout(() => {
      this.#options.logger.error('the auth process does not respond: a handler blocks its event loop');
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

/** What `authenticate` may ask for. */
const requestFields = (request: Request): Record<string, unknown> => {
  const { pathname, search, protocol, hostname, port } = new URL(request.url);
  return {
    method: request.method,
    path: decoded(pathname),
    raw_path: pathname,
    query: search.slice(1),
    headers: [...request.headers],
    path_params: {},
    scheme: protocol.slice(0, -1),
    host: hostname,
    port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
  };
};

const decoded = (path: string): string => {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // not UTF-8
  }
};

/** Applies the changes of a handler to the value, which its caller reads again. */
const change = (value: object, changed: object, removed: readonly string[]): void => {
  for (const key of removed) Reflect.deleteProperty(value, key);
  for (const [key, member] of Object.entries(changed))
    Object.defineProperty(value, key, {
      value: member as unknown,
      enumerable: true,
      configurable: true,
      writable: true,
    });
};

/** Recognized by its fields, as that of JavaScript is. */
class HTTPException extends Error {
  override readonly name = 'HTTPException';
  readonly status: unknown;
  readonly headers: Record<string, string>;

  constructor(status: unknown, detail: string, headers: Record<string, string>) {
    super(detail);
    this.status = status;
    this.headers = headers;
  }
}

const assertDone = (frame: Frame): Frame => {
  const { outcome, status, detail, headers, name, message, stack } = frame.header;
  if (outcome === 'done') return frame;
  if (outcome === 'timeout') throw new Problem('unavailable', 'The auth handler timed out');
  if (outcome === 'refused')
    throw new HTTPException(status, String(detail), headers as Record<string, string>);
  const error = new AuthHandlerError(`${String(name)}: ${String(message)}`);
  error.stack = String(stack);
  throw error;
};
