// The services of a server and the app that serves them, without a socket.
import type { Logger } from 'pino';
import { type AuthDefinition, loadAuth } from '../auth/handlers/auth-definition.ts';
import { OwnRequests } from '../auth/principal/own-requests.ts';
import { createSchemeOf } from '../auth/principal/client-address.ts';
import type { CustomAppConfig } from '../config/project/custom-app.ts';
import type { Exposure } from '../config/settings/exposure.ts';
import type { Settings } from '../config/settings/settings.ts';
import { LoadedModules } from '../config/project/loaded-modules.ts';
import type { PythonLaunch } from '../config/project/python.ts';
import { isPython } from '../config/project/python-modules.ts';
import type { SvcJson } from '../config/project/svc-json.ts';
import { OwnAddress } from '../engine/executor/own-address.ts';
import { loadUserApp, type UserApp } from '../http/custom-app/user-app.ts';
import type { Observe } from '../http/routing/mount.ts';
import { createApp } from '../http/server/app.ts';
import type { ServedApp } from '../http/server/listen.ts';
import { siteRules } from '../http/server/request-site.ts';
import { socketUrls, Upgrades } from '../http/sockets/upgrades.ts';
import { OpenStreams } from '../http/streams/sse.ts';
import { createParsing } from '../parsing/parsing.ts';
import { requestLimits } from '../json/json-limits.ts';
import { CustomCode, prepareGlobals } from './custom-code.ts';
import { type HostAuthenticate, withHostAuth } from './host-auth.ts';
import type { EarlyParts } from './early-parts.ts';
import { mountPrefix } from './mount-prefix.ts';
import type { Owned } from './owned.ts';
import type { ParserTasks, ServerParsing } from './parser-tasks.ts';
import { packageFile } from '../config/package-files.ts';
import { servedRoutes, servesReference } from './served-routes.ts';
import { createSurfaces } from './surfaces.ts';
import { createServices, type Services } from './services.ts';
import {
  type ConnectionPlan,
  type NodeProcesses,
  planConnections,
  planPooled,
  readConnectionLimits,
} from '../storage/postgres/connection-plan.ts';
import { type Database, openDatabase } from '../storage/postgres/database.ts';
import { checkDirect } from '../storage/postgres/direct-connection.ts';
import { nodeTtlMs } from '../storage/deployment/workers.ts';
import { openReplica, type Replica } from '../storage/replica/open-replica.ts';
import { migrate } from '../storage/schema/migrate.ts';
import type { Hono } from 'hono';
import { bodyLength } from '../http/custom-app/inner-request.ts';
import { CustomApp, type CustomAppOptions } from '../http/custom-app/custom-app.ts';
import type { HttpEnv } from '../http/routing/call.ts';

export interface ServedAppOptions {
  settings: Settings;
  project: SvcJson;
  logger: Logger;
  /** Cancels the start: everything that was opened is closed, and the start rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Called with the files of project modules that this process or an executor has loaded. */
  onModules?: (files: string[]) => void;
  /** Authenticates requests instead of the project's `authenticate`. */
  authenticate?: HostAuthenticate | undefined;
}

export const openServedApp = async (
  options: ServedAppOptions,
  exposure: Exposure,
  early: EarlyParts,
  owned: Owned,
): Promise<{ app: ServedApp; upgrades: Upgrades; streams: OpenStreams; services: Services }> => {
  const parsing = createParsing<ParserTasks>(options.settings.http.memoryBytes, options.logger);
  owned.keep(parsing.parser);
  const { services, customCode } = await openServices(options, exposure, { early, owned, parsing });
  const upgrades = createUpgrades(options, parsing);
  const streams = new OpenStreams();
  const app = createServerApp(options, services, exposure, { parsing, customCode, upgrades, streams });
  return { app, upgrades, streams, services };
};

const openServices = async (
  options: ServedAppOptions,
  { mode }: Exposure,
  { early, owned, parsing }: { early: EarlyParts; owned: Owned; parsing: ServerParsing },
): Promise<{ services: Services; customCode: CustomCode | undefined }> => {
  const { settings, project, logger, signal } = options;
  // The auth object is loaded first. If it fails, the server must not serve anything.
  await prepareGlobals(project, logger);
  const modules = options.onModules && new LoadedModules(options.onModules);
  const python = await early.python;
  const ownRequests = python && new OwnRequests(mode);
  const ownAddress = new OwnAddress();
  const authenticates = options.authenticate === undefined;
  const ownAuth = await openAuth(options, python, { modules, authenticates, owned });
  const authDefinition = withHostAuth(ownAuth, options.authenticate);
  const { customApp } = project;
  const customCode =
    customApp &&
    (await CustomCode.load(logger, () =>
      openCustomApp(customApp, options, { python, modules, ownRequests, ownAddress, owned }),
    ));
  signal?.throwIfAborted();
  const connection = await early.connection;
  const databaseOptions = connection.options;
  // Before it is known how many connections the database allows.
  const database = owned.keep(await openDatabase({ ...databaseOptions, poolMax: 2, sharesReads: true }));
  await checkDirect(database, databaseOptions);
  await migrate(database);
  const plan =
    databaseOptions.direct === undefined
      ? planConnections(early.node, await readConnectionLimits(database, nodeTtlMs(settings.runs.leaseMs)))
      : planPooled(early.node);
  signal?.throwIfAborted();
  reportPlan(plan, early.node, logger);
  database.resize(plan.server);
  const databaseFailure = (): string | undefined => connection.failure();
  const replica = startReplica(database, plan, options);
  if (replica) owned.keep(replica);
  const parts = {
    database,
    databaseOptions,
    replica,
    plan,
    standby: early.executors,
    instanceId: early.instanceId,
    logExport: early.logExport,
    databaseFailure,
    settings,
    project,
    python,
    ownRequests,
    ownAddress,
    mode,
    authDefinition,
    customCode,
    parsing,
    logger,
    onModules: options.onModules,
  };
  return { services: owned.keep(await createServices(parts)), customCode };
};

/** Undefined without an auth object. */
const openAuth = async (
  { project: { auth }, settings, logger, onModules }: ServedAppOptions,
  python: PythonLaunch | undefined,
  {
    modules,
    authenticates,
    owned,
  }: { modules: LoadedModules | undefined; authenticates: boolean; owned: Owned },
): Promise<AuthDefinition | undefined> => {
  if (auth === undefined) return undefined;
  const { source } = auth;
  if (python === undefined || !isPython(source.file)) return loadAuth(source, { modules, authenticates });
  const { timeoutMs } = settings.auth;
  // Imported here, because most servers have no such file.
  const { PythonAuth } = await import('./python-auth.ts');
  const options = { source, launch: python, timeoutMs, authenticates, logger, onModules };
  return owned.keep(await PythonAuth.open(options)).definition;
};

const openCustomApp = async (
  customApp: CustomAppConfig,
  { logger, onModules }: ServedAppOptions,
  {
    python,
    modules,
    ownRequests,
    ownAddress,
    owned,
  }: {
    python: PythonLaunch | undefined;
    modules: LoadedModules | undefined;
    ownRequests: OwnRequests | undefined;
    ownAddress: OwnAddress;
    owned: Owned;
  },
): Promise<UserApp> => {
  const { source } = customApp;
  if (python === undefined || !isPython(source.file)) return loadUserApp(customApp, modules);
  // Imported here, because most servers have no such file.
  const { PythonApp } = await import('./python-app.ts');
  return owned.keep(
    await PythonApp.open({ source, launch: python, ownRequests, ownAddress, logger, onModules }),
  ).app;
};

const startReplica = (
  primary: Database,
  { server }: ConnectionPlan,
  { settings, logger }: ServedAppOptions,
): Replica | undefined => {
  const { replica } = settings.storage;
  if (replica === undefined) return undefined;
  return openReplica({
    uri: replica.uri.reveal(),
    primary,
    poolMax: server,
    lagMaxMs: replica.lagMaxMs,
    onChange: (error) => {
      if (error === undefined) logger.info('the replica is reachable');
      else logger.warn({ err: error }, 'the replica is not reachable, reading from the primary');
    },
  });
};

const reportPlan = (plan: ConnectionPlan, node: NodeProcesses, logger: Logger): void => {
  const { server, executor, exporters, total, warning } = plan;
  const isShort = server < node.poolMax || executor < node.poolMax || exporters < node.exporters;
  if (warning !== undefined) logger.warn(warning);
  else if (isShort)
    logger.info(
      { server, executor, exporters, total },
      'the database allows fewer connections than SVC_POOL_MAX',
    );
};

const createServerApp = (
  { settings, project, logger }: ServedAppOptions,
  services: Services,
  { mode, cors }: Exposure,
  {
    parsing,
    customCode,
    upgrades,
    streams,
  }: {
    parsing: ServerParsing;
    customCode: CustomCode | undefined;
    upgrades: Upgrades;
    streams: OpenStreams;
  },
): ServedApp => {
  const { bodyLimitBytes, heartbeatMs } = settings.http;
  const { surfaces, limits, authenticate, hasConsole } = createSurfaces(
    { settings, project, mode, logger },
    services,
  );
  const bytes = { bodyBytes: bodyLimitBytes, uploadBytes: settings.platform.ingestLimitBytes };
  const reporting = {
    observe: (...request: Parameters<Observe>) => services.metrics.request(...request),
    startSpan: services.telemetry.startRequest,
    loggedHeaders: project.loggedHeaders,
    prefix: mountPrefix({ settings, project }),
    schemeOf: createSchemeOf(settings.http.trustedProxies),
    logger,
  };
  const hasReference = servesReference(settings, project);
  const app = createApp({
    ...reporting,
    auditLogger: auditLoggerOf(logger),
    surfaces,
    openStream: (caller) => limits.openStream(caller),
    sites: siteRules({ cors, sameSite: mode.kind === 'anonymous' }),
    limits: { ...bytes, json: requestLimits },
    heartbeatMs,
    streamBufferBytes,
    parsing,
    upgrades,
    streams,
    consoleFolder: hasConsole ? packageFile('console/') : undefined,
    referenceFolder: hasReference ? packageFile('console/') : undefined,
  });
  if (!customCode || !project.customApp) return app;
  const around = {
    ...reporting,
    ...project.customApp,
    authenticate,
    surfaces,
    publicFolders: [...(hasConsole ? ['/console'] : []), ...(hasReference ? ['/docs'] : [])],
    limits: bytes,
  };
  return serveCustom(app, customCode, around, settings.role);
};

/** Audit lines are written at every level of the log, except when it is off. */
const auditLoggerOf = (logger: Logger): Logger =>
  logger.level === 'silent' ? logger : logger.child({}, { level: 'info' });

/** Limit of one WebSocket message. Clients send larger commands by POST. */
const messageBytesMax = 5_000_000;
/** How many bytes of a stream are buffered for a slow client. */
const streamBufferBytes = 1_048_576;

const createUpgrades = ({ settings, project }: ServedAppOptions, parsing: ServerParsing): Upgrades => {
  const { bodyLimitBytes, heartbeatMs } = settings.http;
  return new Upgrades({
    isSocketUrl: socketUrls(servedRoutes(settings.role, project), mountPrefix({ settings, project })),
    messageBytesMax: Math.min(messageBytesMax, bodyLimitBytes),
    heartbeatMs,
    bufferBytesMax: streamBufferBytes,
    json: requestLimits,
    parsing,
  });
};

type Options = Omit<CustomAppOptions, 'app' | 'inside' | 'outside'> & { logger: Logger };

/** The built-in routes with the custom app around them. A worker serves only its health; its custom app gets webhooks. */
export const serveCustom = (
  inner: Hono<HttpEnv>,
  customCode: CustomCode,
  options: Options,
  role: Settings['role'],
): ServedApp => {
  const { app, inside, outside } = customCode;
  const custom = new CustomApp(inner, { ...options, app, inside, outside });
  for (const warning of custom.warnings) options.logger.warn(warning);
  const origin = `http://localhost${options.prefix}`;
  customCode.connect({
    fetchCustom: (path, init) => custom.fetchCustom(new Request(origin + path, init)),
    fetch: async (input, init) => {
      if (role === 'worker')
        throw new Error(
          'This process is a worker and serves no API: write new Client({ apiUrl: "https://…" })',
        );
      const { pathname, search } = new URL(input instanceof Request ? input.url : input, origin);
      const given = input instanceof Request ? new Request(input, init) : init;
      const request = new Request(origin + pathname + search, given);
      const length = init?.body ? bodyLength(init.body) : undefined;
      if (length !== undefined) request.headers.set('content-length', String(length));
      return outside(() => custom.fetch(request));
    },
  });
  return role === 'worker' ? inner : custom;
};
