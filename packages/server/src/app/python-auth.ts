// The project's auth object in Python, in a process of its own. This process executes no graphs.
import { Problem } from '@svc/contract/problem';
import {
  type AuthDefinition,
  type Handler,
  type HandlerContext,
  unknownHandlers,
} from '../auth/handlers/auth-definition.ts';
import { AuthHandlerError } from '../auth/handlers/handler-call.ts';
import { exportError } from '../config/project/project-export.ts';
import type { Frame, FrameHeader } from '../engine/python/frames.ts';
import { requestFields } from './python-request.ts';
import { PythonService, type PythonServiceOptions } from './python-service.ts';

interface PythonAuthOptions extends Pick<PythonServiceOptions, 'source' | 'launch' | 'logger' | 'onModules'> {
  timeoutMs: number;
  /** Whether the object needs an authenticate handler. */
  authenticates: boolean;
}

/** How late a reply may be before it is checked whether the process still responds. */
const lateMs = 1_000;

/** A request to this server would call the handlers again. */
const refuseClient = (): Promise<never> =>
  Promise.reject(new Error('get_client() in an auth file needs a URL: get_client(url="https://…")'));

export class PythonAuth implements AsyncDisposable {
  readonly #service: PythonService;
  readonly #timeoutMs: number;
  /** Calls the process. */
  readonly definition: AuthDefinition;

  private constructor(service: PythonService, timeoutMs: number) {
    this.#service = service;
    this.#timeoutMs = timeoutMs;
    const keys = service.header['handlers'] as string[];
    this.definition = {
      authenticate: (request) => this.#authenticate(request),
      handlers: new Map(keys.map((key) => [key, this.#handlerOf(key)])),
    };
  }

  /** Throws a ConfigError when the auth object cannot be used: the server does not start without it. */
  static async open({ timeoutMs, authenticates, ...options }: PythonAuthOptions): Promise<PythonAuth> {
    const service = await PythonService.open({
      work: 'auth',
      setup: { authenticates },
      onFrame: refuseClient,
      ...options,
    });
    const { source } = options;
    const [unknown] = unknownHandlers(service.header['handlers'] as string[]);
    if (unknown === undefined) return new PythonAuth(service, timeoutMs);
    await service[Symbol.asyncDispose]();
    throw exportError(
      source,
      `${source.export} in ${source.file} has a handler for "${unknown}", which is no known event`,
      'Register handlers for existing resources and actions.',
    );
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#service[Symbol.asyncDispose]();
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
    const timeoutMs = this.#timeoutMs;
    return assertDone(
      await this.#service.call({ ...header, timeout_ms: timeoutMs }, parts, timeoutMs + lateMs),
    );
  }
}

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
