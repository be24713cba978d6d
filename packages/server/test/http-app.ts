// A small table of routes on a real socket, for the tests of this folder.
import { OpenStreams } from '../src/http/streams/sse.ts';
import { routesOf, type Routes } from '@svc/contract';
import { Hono } from 'hono';
import * as z from 'zod';
import {
  EventStreamResponse,
  type Resumption,
  type EventWriter,
  type Handlers,
  DeferredResponse,
  RawJson,
  Reply,
  type SseBody,
} from '../src/api/handlers.ts';
import { unrestrictedAuthorizer } from '../src/auth/authorization/authorizer.ts';
import { anybody } from '../src/auth/principal/caller.ts';
import { createParsing, type Parsing } from '../src/parsing/parsing.ts';
import { CustomApp } from '../src/http/custom-app/custom-app.ts';
import type { UserApp } from '../src/http/custom-app/user-app.ts';
import type { Surface } from '../src/http/routing/mount.ts';
import { type AppOptions, createApp } from '../src/http/server/app.ts';
import { listen, type Listening, type ListenOptions, type ServedApp } from '../src/http/server/listen.ts';
import type { HttpLogger } from '../src/http/server/problem.ts';

const route = routesOf('test');
const access = 'public';
const id = z.object({ run_id: z.uuid() });
const Anything = z.json();

export const testRoutes = {
  getRun: route('get', '/runs/:run_id', {
    summary: '',
    access,
    params: id,
    response: Anything,
  }),
  deleteRun: route('delete', '/runs/:run_id', {
    summary: '',
    access,
    params: id,
    response: z.void(),
    status: 204,
  }),
  postRun: route('post', '/runs/:run_id', {
    summary: '',
    access,
    params: id,
    response: Anything,
  }),
  nameRun: route('get', '/names/:name', {
    summary: '',
    access,
    params: z.object({ name: z.string() }),
    response: Anything,
  }),
  stream: route('post', '/runs/stream', {
    summary: '',
    access,
    response: Anything,
    kind: 'sse',
  }),
  watch: route('get', '/watch', { summary: '', access, response: Anything, kind: 'sse' }),
  wait: route('post', '/runs/wait', {
    summary: '',
    access,
    response: Anything,
    kind: 'deferred',
  }),
  search: route('post', '/search', {
    summary: '',
    access,
    query: z.object({ tags: z.union([z.string(), z.array(z.string())]).optional() }),
    body: z.object({
      limit: z.int().min(1).max(100).default(10),
      metadata: z.record(z.string(), Anything).optional(),
    }),
    bodyOptional: true,
    response: Anything,
  }),
  put: route('put', '/items', {
    summary: '',
    access,
    body: z.object({ key: z.string() }),
    response: z.void(),
    status: 204,
  }),
  raw: route('get', '/raw', { summary: '', access, response: Anything }),
  page: route('get', '/page', { summary: '', access, response: z.string(), kind: 'html' }),
};

type TestHandlers = Handlers<typeof testRoutes>;

const idle: SseBody = new EventStreamResponse(() => new Promise(() => undefined));

const defaults: TestHandlers = {
  getRun: ({ params }) => new Reply({ run_id: params.run_id }, { self: `/runs/${params.run_id}` }),
  deleteRun: () => undefined,
  postRun: () => ({ posted: true }),
  nameRun: ({ params }) => ({ name: params.name }),
  stream: () => idle,
  watch: () => idle,
  wait: () => new DeferredResponse(Promise.resolve('{"done":true}')),
  search: ({ body, query }) => new RawJson(JSON.stringify({ ...body, ...query })),
  put: () => undefined,
  raw: () => new RawJson('{ "as": "stored" }'),
  page: () => '<!doctype html><title>page</title>',
};

/** Routes that everybody may use. */
export const openSurface = <T extends Routes>(routes: T, handlers: Handlers<T>): Surface => ({
  routes,
  handlers: handlers as Handlers<Routes>,
  authenticate: () => anybody,
  authorizerFor: () => unrestrictedAuthorizer,
});

export interface TestApp extends AsyncDisposable {
  url: string;
  host: string;
  port: number;
  /** The logged messages with their fields. */
  lines: ({ level: string; msg: string } & Record<string, unknown>)[];
}

type TestAppOptions = Partial<AppOptions> & { customApp?: UserApp | undefined };

/** An app without a socket. */
export interface BuiltTestApp extends AsyncDisposable {
  app: ServedApp;
  lines: TestApp['lines'];
  logger: HttpLogger;
  parsing: Parsing;
}

export const buildTestApp = (
  handlers: Partial<TestHandlers> = {},
  { customApp, ...options }: TestAppOptions = {},
): BuiltTestApp => {
  const lines: TestApp['lines'] = [];
  const write = (level: string) => (fields: object, msg: string) =>
    void lines.push({ level, msg, ...fields });
  const logger = { debug: write('debug'), info: write('info'), error: write('error') };
  const parsing = createParsing(64_000_000, { warn: () => undefined });
  const surfaces = [openSurface(testRoutes, { ...defaults, ...handlers })];
  const inner = createApp({ surfaces, logger, parsing, ...options });
  const { bodyBytes = 20_000_000, uploadBytes = 100_000_000 } = options.limits ?? {};
  const app =
    customApp === undefined
      ? inner
      : new CustomApp(inner, {
          app: customApp,
          isAuthFirst: false,
          isAuthenticated: false,
          authenticate: () => anybody,
          surfaces,
          publicFolders: [],
          prefix: options.prefix ?? '',
          schemeOf: () => undefined,
          limits: { bodyBytes, uploadBytes },
          logger,
          observe: options.observe,
          startSpan: options.startSpan,
          loggedHeaders: options.loggedHeaders,
          inside: (work) => work(),
          outside: (work) => work(),
        });
  return { app, lines, logger, parsing, [Symbol.asyncDispose]: () => parsing.parser[Symbol.asyncDispose]() };
};

export const startTestApp = async (
  handlers: Partial<TestHandlers> = {},
  { graceMs = 0, guard, ...options }: TestAppOptions & Pick<ListenOptions, 'graceMs' | 'guard'> = {},
): Promise<TestApp & Listening & Pick<BuiltTestApp, 'parsing'>> => {
  const streams = new OpenStreams();
  const built = buildTestApp(handlers, { ...options, streams });
  const { app, lines, logger, parsing } = built;
  const server = await listen(app, { host: '127.0.0.1', port: 0, logger, graceMs, guard, streams });
  const { hostname, port } = new URL(server.url);
  return {
    ...server,
    lines,
    parsing,
    host: hostname,
    port: Number(port),
    async [Symbol.asyncDispose]() {
      await server.close();
      await built[Symbol.asyncDispose]();
    },
  };
};

/** The ways to the built-in routes: directly, and through the middleware of the project's app. */
export const ways = [
  { way: '', customApp: undefined },
  {
    way: ' through a custom app',
    customApp: new Hono().use(async (context, next) => {
      await next();
      context.header('x-custom', 'yes');
    }) as unknown as UserApp,
  },
];

/** An event stream that a test controls, and what happens to it. */
export const testEventSource = (
  resumption?: Resumption,
): {
  stream: EventStreamResponse;
  sink: Promise<EventWriter>;
  stopped: Promise<void>;
} => {
  const sink = deferred<EventWriter>();
  const stopped = deferred<void>();
  const stream = new EventStreamResponse((given, stop) => {
    stop.addEventListener('abort', () => stopped.resolve());
    return new Promise((end, fail) => {
      sink.resolve({ send: (event) => given.send(event), drained: () => given.drained(), end, fail });
    });
  }, resumption);
  return { stream, sink: sink.promise, stopped: stopped.promise };
};

export const deferred = <T>(): {
  promise: Promise<T>;
  resolve: (value: T) => void;
  reject: (error: unknown) => void;
} => {
  let settle: Pick<ReturnType<typeof deferred<T>>, 'resolve' | 'reject'> | undefined;
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  if (settle === undefined) throw new Error('a promise runs its executor at once');
  return { promise, ...settle };
};
