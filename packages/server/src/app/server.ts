// Starts a whole server (database, services, HTTP), and stops it in reverse order.
import { platformRoutes, type Routes, unsupportedPaths } from '@svc/contract';
import type { Logger } from 'pino';
import { keyAuthorizer } from '../auth/authorization/key-authorizer.ts';
import { grantOf } from '../auth/keys/grant-of.ts';
import { unrestrictedAuthorizer } from '../auth/authorization/authorizer.ts';
import { loadAuth } from '../auth/handlers/auth-definition.ts';
import { exposeEnvironment } from '../config/environment.ts';
import { anonymousAuthenticator } from '../auth/principal/anonymous-authenticator.ts';
import { apiKeyAuthenticator } from '../auth/principal/api-key-authenticator.ts';
import { CallerLimits } from '../auth/limits/caller-limits.ts';
import type { Authenticate, Caller } from '../auth/principal/caller.ts';
import { type AddressOf, createAddressOf } from '../auth/principal/client-address.ts';
import { exposureOf, type AccessMode, type Exposure } from '../config/settings/exposure.ts';
import type { Settings } from '../config/settings/settings.ts';
import { LoadedModules } from '../config/project/loaded-modules.ts';
import type { SvcJson } from '../config/project/svc-json.ts';
import type { Handlers } from '../api/handlers.ts';
import { announce } from '../http/server/address-file.ts';
import { createApp } from '../http/server/app.ts';
import { localHosts } from '../http/server/request-guard.ts';
import { assertBindable, listen, reachableUrl } from '../http/server/listen.ts';
import { siteRules } from '../http/server/request-site.ts';
import { createParsing } from '../parsing/parsing.ts';
import type { ParserTasks, ServerParsing } from './parser-tasks.ts';
import { requestLimits } from '../parsing/json-limits.ts';
import type { FirstKey } from '../auth/keys/bootstrap.ts';
import { type Owned, owning } from './owned.ts';
import { mountPrefix } from './mount-prefix.ts';
import { servedRoutes } from './served-routes.ts';
import { createServices, type Services } from './services.ts';
import { openConnection } from '../storage/postgres/connection.ts';
import {
  type ConnectionLimits,
  type ConnectionPlan,
  type NodeProcesses,
  planConnections,
  readConnectionLimits,
  wantedConnections,
} from '../storage/postgres/connection-plan.ts';
import { type Database, type DatabaseOptions, openDatabase } from '../storage/postgres/database.ts';
import { nodeTtlMs } from '../storage/deployment/workers.ts';
import { migrate } from '../storage/schema/migrate.ts';
import { explainFolder } from '../storage/embedded/data-folder.ts';
import { createStorage, type Storage } from '../storage/storage.ts';

export interface ServerOptions {
  settings: Settings;
  project: SvcJson;
  logger: Logger;
  /**
   * When aborted before the server accepts requests, everything that was opened is closed, and the start rejects with the signal's
   * reason.
   */
  signal?: AbortSignal;
  /** Called with files of the project's modules that were loaded, here or in an executor. */
  onModules?: (files: string[]) => void;
}

export interface RunningServer extends AsyncDisposable {
  /**
   * Lets another server use the same port and database: stops listening, and gives the runs back so that the other server continues
   * them. Open responses stay open and follow their runs. Resolves when no run is executed here.
   */
  handOver(): Promise<{ responsesEnded: Promise<void> }>;
  url: string;
  graphs: string[];
  /** The first key of the platform API, if this start has created it. */
  firstKey: FirstKey | undefined;
  /**
   * Claims no more runs, and reports that at /ready. Resolves when all runs here have ended, the grace period is over, or `hurry` is
   * aborted. Remaining runs are given back when the server is disposed.
   */
  drain(hurry: AbortSignal): Promise<void>;
}

/** Starts everything, from the database to the listening socket. When a part fails, the parts before it are closed. */
export const startServer = async (options: ServerOptions): Promise<RunningServer> => {
  try {
    return await owning((owned) => build(options, owned));
  } catch (error) {
    throw await explainData(error, options.settings);
  }
};

const explainData = (error: unknown, { storage: { dataDir, databaseUri } }: Settings): Promise<unknown> =>
  explainFolder(error, dataDir, { holdsDatabase: databaseUri === undefined });

const build = async (
  options: ServerOptions,
  owned: Owned,
): Promise<Omit<RunningServer, keyof AsyncDisposable>> => {
  const { settings, project, logger } = options;
  const exposure = exposureOf(settings, project);
  const { mode, cors, warnings } = exposure;
  for (const warning of warnings) logger.warn(warning);
  await assertBindable(settings.http.host, settings.http.port);
  const parsing = createParsing<ParserTasks>(settings.http.memoryBytes, logger);
  owned.keep(parsing.parser);
  const services = await openServices(options, owned, parsing);
  const app = createServerApp(options, services, exposure, parsing);
  const { host, port } = settings.http;
  const isAnonymous = mode.kind === 'anonymous';
  const hosts = isAnonymous && mode.local ? localHosts(host) : undefined;
  const listener = await listen(app, { host, port, logger, guard: { cors, hosts, sameSite: isAnonymous } });
  owned.keep({ [Symbol.asyncDispose]: () => listener.close() });
  const url = listener.url + mountPrefix(options);
  if (settings.role !== 'worker') owned.keep(await announced(url, settings, logger));
  services.dispatcher.pool.setAddress(settings.role === 'worker' ? null : reachableUrl(url));
  options.signal?.throwIfAborted();
  return {
    url,
    graphs: [...project.graphs.keys()],
    firstKey: services.firstKey,
    handOver: async () => {
      const responsesEnded = listener.stop();
      await services.handOver();
      return { responsesEnded };
    },
    drain: (hurry) => services.drain(settings.runs.shutdownGraceMs, hurry),
  };
};

const openServices = async (
  options: ServerOptions,
  owned: Owned,
  parsing: ServerParsing,
): Promise<Services> => {
  const { settings, project, logger, signal } = options;
  // Loaded first: a server whose auth object fails must not serve anything.
  if (project.auth) {
    exposeEnvironment(project.env);
    // Imported here, because most servers have no auth module.
    const { exposeLogger } = await import('../engine/executor/server-globals.ts');
    exposeLogger(logger.child({ process: 'auth' }));
  }
  const modules = options.onModules && new LoadedModules(options.onModules);
  const authDefinition = project.auth && (await loadAuth(project.auth.source, modules));
  signal?.throwIfAborted();
  const node = nodeOf(settings);
  const connections = wantedConnections(node);
  const connection = owned.keep(await openConnection(settings.storage, { connections, signal }));
  const databaseOptions = connection.options;
  const limits = await prepareDatabase(databaseOptions, settings);
  signal?.throwIfAborted();
  const plan = planConnections(node, limits);
  reportPlan(plan, node, logger);
  const database = owned.keep(await openDatabase({ ...databaseOptions, poolMax: plan.server }));
  const databaseFailure = (): string | undefined => connection.failure();
  const parts = {
    database,
    databaseOptions,
    plan,
    databaseFailure,
    settings,
    project,
    authDefinition,
    parsing,
    logger,
    onModules: options.onModules,
  };
  return owned.keep(await createServices(parts));
};

/** A node that only answers requests still introspects graphs and applies state updates. */
const nodeOf = ({ role, storage, runs, exports }: Settings): NodeProcesses => ({
  poolMax: storage.poolMax,
  executors: role === 'api' ? 1 : runs.executors,
  exporters: role === 'api' ? 0 : exports.slots,
});

/** Migrates the schema, and reads how many connections the database allows. */
const prepareDatabase = async (options: DatabaseOptions, settings: Settings): Promise<ConnectionLimits> => {
  await using database = await openDatabase({ ...options, poolMax: 2 });
  await migrate(database);
  return await readConnectionLimits(database, nodeTtlMs(settings.runs.leaseMs));
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
  { settings, project, logger }: ServerOptions,
  services: Services,
  { mode, cors }: Exposure,
  parsing: ServerParsing,
) => {
  const { bodyLimitBytes, json, heartbeatMs, trustedProxies } = settings.http;
  const addressOf = createAddressOf(trustedProxies);
  const limits = new CallerLimits({ ...settings.limits, addressOf });
  const deployment = {
    routes: servedRoutes(settings.role, project.disabled),
    handlers: services.handlers as Handlers<Routes>,
    authenticate: limits.around(services.auth?.authenticate ?? authenticatorFor(mode, addressOf)),
    authorizerFor: (caller: Caller) =>
      services.auth?.handlers.authorizerFor(caller) ?? unrestrictedAuthorizer,
  };
  const platform = {
    routes: platformRoutes,
    handlers: services.platform.handlers as Handlers<Routes>,
    authenticate: limits.around(services.platform.authenticate),
    authorizerFor: (caller: Caller) => keyAuthorizer(grantOf(caller)),
    unsupported: unsupportedPaths,
  };
  return createApp({
    surfaces: settings.role === 'worker' ? [deployment] : [deployment, platform],
    observe: (...request) => services.metrics.request(...request),
    loggedHeaders: project.loggedHeaders,
    prefix: mountPrefix({ settings, project }),
    openStream: (caller) => limits.openStream(caller),
    sites: siteRules({ cors, sameSite: mode.kind === 'anonymous' }),
    logger,
    limits: {
      bodyBytes: bodyLimitBytes,
      json: { ...requestLimits, ...json },
      uploadBytes: settings.platform.ingestLimitBytes,
    },
    heartbeatMs,
    parsing,
  });
};

/** A data folder that is not writable does not prevent the start. */
const announced = async (url: string, { storage }: Settings, logger: Logger): Promise<AsyncDisposable> => {
  try {
    return await announce(storage.dataDir, url);
  } catch (err) {
    logger.warn({ err }, 'failed to write the address of the server; pass --url to commands on this machine');
    return { [Symbol.asyncDispose]: () => Promise.resolve() };
  }
};

const authenticatorFor = (mode: AccessMode, addressOf: AddressOf): Authenticate => {
  switch (mode.kind) {
    case 'custom':
      throw new Error('Custom authentication has its own authenticator');
    case 'keys':
      return apiKeyAuthenticator(mode.keys);
    case 'anonymous':
      return anonymousAuthenticator(addressOf);
  }
};

/** Opens the configured database without migrating its schema. */
export const withUnmigratedDatabase = async <T>(
  settings: Settings,
  work: (database: Database) => Promise<T>,
): Promise<T> => {
  try {
    await using connection = await openConnection(settings.storage);
    await using database = await openDatabase(connection.options);
    return await work(database);
  } catch (error) {
    throw await explainData(error, settings);
  }
};

/** Calls `work` with the migrated database, without a server. */
export const withDatabase = async <T>(
  settings: Settings,
  work: (storage: Storage) => Promise<T>,
): Promise<T> => {
  return await withUnmigratedDatabase(settings, async (database) => {
    await migrate(database);
    return work(createStorage(database));
  });
};
