// The project's app in Python, in a process of its own. It is a Hono app for the rest of the server: each of its routes forwards requests to
// the process. If the app has middleware, all requests go through it, and it asks for the response of the built-in routes.
import type { Logger } from 'pino';
import { Problem } from '@svc/contract/problem';
import { type Context, Hono } from 'hono';
import { within } from '../backoff.ts';
import type { OwnRequests } from '../auth/principal/own-requests.ts';
import type { OwnAddress } from '../engine/executor/own-address.ts';
import type { Frame } from '../engine/python/frames.ts';
import type { PythonProcess, PythonReply } from '../engine/python/python-process.ts';
import type { UserApp } from '../http/custom-app/user-app.ts';
import { AppExchange } from './python-app-exchange.ts';
import { PythonService, type PythonServiceOptions } from './python-service.ts';

interface AppRoute {
  /** As Starlette writes it: `/items/{id:int}`. */
  path: string;
  /** Null: all. */
  methods: string[] | null;
}

const shutdownMs = 10_000;
/** The event loop of an app that has not begun a response for so long is checked. */
const lateMs = 10_000;

export class PythonApp implements AsyncDisposable {
  readonly #service: PythonService;
  readonly #exchanges: Map<number, AppExchange>;
  readonly #ownRequests: OwnRequests | undefined;
  #numbers = 0;
  readonly app: UserApp;

  private constructor(
    service: PythonService,
    exchanges: Map<number, AppExchange>,
    ownRequests: OwnRequests | undefined,
  ) {
    this.#service = service;
    this.#ownRequests = ownRequests;
    this.#exchanges = exchanges;
    const { routes, middleware } = service.header as unknown as { routes: AppRoute[]; middleware: boolean };
    // Hono and the interface have other types of the same members.
    this.app = this.#createApp(routes, middleware) as unknown as UserApp;
  }

  /** Throws a ConfigError when the app cannot be used: its middleware may protect routes, so the server must not start without it. */
  static async open({
    ownRequests,
    ownAddress,
    ...options
  }: Pick<PythonServiceOptions, 'source' | 'launch' | 'onModules'> & {
    ownRequests: OwnRequests | undefined;
    ownAddress: OwnAddress;
    logger: Logger;
  }): Promise<PythonApp> {
    const exchanges = new Map<number, AppExchange>();
    const service = await PythonService.open({
      ...options,
      work: 'app',
      onFrame: async (frame) =>
        frame.header.kind === 'address'
          ? { header: { url: await ownAddress.url } }
          : receive(exchanges, frame),
      onLost: (process) => endAll(exchanges, process),
    });
    for (const path of service.header['sockets'] as string[])
      options.logger.warn(`The WebSocket ${path} of http.app is not served`);
    return new PythonApp(service, exchanges, ownRequests);
  }

  /** Ends the process after the shutdown of the app's lifespan. */
  async [Symbol.asyncDispose](): Promise<void> {
    const stopped = this.#service.process().then((process) => process.call({ kind: 'shutdown' }));
    await within(
      stopped.catch(() => undefined),
      shutdownMs,
      () => undefined,
    );
    await this.#service[Symbol.asyncDispose]();
  }

  #createApp(routes: readonly AppRoute[], hasMiddleware: boolean): Hono {
    const app = new Hono();
    if (hasMiddleware)
      app.use(async (context, next) => {
        const response = await this.#serve(context, async () => {
          await next();
          return context.res;
        });
        // Assigned twice, because Hono would merge the headers of both responses.
        context.res = undefined;
        context.res = response;
      });
    const handler = hasMiddleware
      ? (context: Context) => context.notFound()
      : (context: Context) => this.#serve(context, async () => context.notFound());
    for (const { path, methods } of routes) {
      const pattern = path.replaceAll(/\{(\w+)(?::(\w+))?\}/g, (_, name: string, kind?: string) =>
        kind === 'path' ? `:${name}{.*}` : `:${name}`,
      );
      if (methods === null) app.all(pattern, handler);
      // Hono serves HEAD by the route of GET.
      else
        app.on(
          methods.filter((method) => method !== 'HEAD'),
          pattern,
          handler,
        );
    }
    return app;
  }

  async #serve(context: Context, inner: () => Promise<Response>): Promise<Response> {
    const process = await this.#service.process();
    const number = ++this.#numbers;
    const exchange = new AppExchange(number, { process, context, inner, ownRequests: this.#ownRequests });
    this.#exchanges.set(number, exchange);
    const timer = setTimeout(() => void this.#service.check(process), lateMs);
    timer.unref();
    void exchange.ended.finally(() => this.#exchanges.delete(number));
    try {
      return await exchange.begin();
    } finally {
      clearTimeout(timer);
    }
  }
}

const receive = async (exchanges: ReadonlyMap<number, AppExchange>, frame: Frame): Promise<PythonReply> => {
  const exchange = exchanges.get(frame.header['request'] as number);
  try {
    if (!exchange) throw new Error('the request has ended');
    return await exchange.receive(frame);
  } catch (error) {
    // Nobody waits for the reply of a frame that is no call.
    if (frame.header.call !== undefined) throw error;
    exchange?.fail(error instanceof Error ? error : new Error(String(error)));
    return {};
  }
};

const endAll = (exchanges: ReadonlyMap<number, AppExchange>, process: PythonProcess): void => {
  for (const exchange of exchanges.values())
    if (exchange.process === process)
      exchange.fail(new Problem('unavailable', 'The app process has ended and is started again'));
};
