// A whole server: database, services, HTTP; and back down again in reverse order.
import { deploymentRoutes, platformRoutes, systemRoutes, type Routes } from '@svc/contract';
import type { Logger } from 'pino';
import { openAccess } from './access/access.ts';
import { loadAuth } from './access/auth-definition.ts';
import { exposeEnvironment } from './config/env.ts';
import { anonymousAuthenticator } from './access/anonymous-authenticator.ts';
import { apiKeyAuthenticator } from './access/api-key-authenticator.ts';
import { CallerLimits } from './access/caller-limits.ts';
import type { Authenticate } from './access/caller.ts';
import { type AddressOf, createAddressOf } from './access/client-address.ts';
import { exposureOf, type AccessMode } from './config/exposure.ts';
import type { Settings } from './config/settings.ts';
import type { SvcJson } from './config/svc-json.ts';
import type { Handlers } from './api/handlers.ts';
import { announce } from './http/address-file.ts';
import { createApp } from './http/app.ts';
import { localHosts } from './http/gate.ts';
import { listen } from './http/listen.ts';
import { createParsing } from './parsing/parsing.ts';
import { requestLimits } from './parsing/json-limits.ts';
import type { FirstKey } from './platform/keys/bootstrap.ts';
import { createServices } from './services.ts';
import { openConnection } from './storage/connection.ts';
import { type Database, openDatabase } from './storage/database.ts';
import { migrate } from './storage/schema/migrate.ts';
import { createStorage, type Storage } from './storage/storage.ts';

export interface ServerOptions {
  settings: Settings;
  project: SvcJson;
  logger: Logger;
}

export interface RunningServer extends AsyncDisposable {
  url: string;
  graphs: string[];
  /** Of the platform API, when it was made just now. */
  firstKey: FirstKey | undefined;
  /**
   * Takes no more runs, and says so at /ready; resolves when those that execute have ended, the grace is over, or
   * it is hurried. What is left then goes back to be executed elsewhere when the server is disposed.
   */
  drain(hurry: AbortSignal): Promise<void>;
}

/** Brings everything up, from the database to the listening socket. What fails takes down what came before it. */
export const startServer = async ({ settings, project, logger }: ServerOptions): Promise<RunningServer> => {
  const { mode, cors, warnings } = exposureOf(settings, project);
  for (const warning of warnings) logger.warn(warning);
  const opened: AsyncDisposable[] = [];
  const close = async (): Promise<void> => {
    for (let last = opened.pop(); last; last = opened.pop()) await last[Symbol.asyncDispose]();
  };
  const keep = <T extends AsyncDisposable>(part: T): T => {
    opened.push(part);
    return part;
  };
  try {
    // First: with an auth object that does not work nothing is served.
    if (project.auth) exposeEnvironment(project.env);
    const authDefinition = project.auth && (await loadAuth(project.auth.source));
    const connection = keep(await openConnection(settings.storage));
    const database = keep(await openDatabase(connection.options));
    await migrate(database);
    const parsing = createParsing(settings.http.memoryBytes, logger);
    keep(parsing.parser);
    const services = keep(
      await createServices({
        database,
        databaseOptions: connection.options,
        settings,
        project,
        authDefinition,
        parsing,
        logger,
      }),
    );
    const { host, port, bodyLimitBytes, json, heartbeatMs, trustedProxies } = settings.http;
    const addressOf = createAddressOf(trustedProxies);
    const limits = new CallerLimits({ ...settings.limits, addressOf });
    const app = createApp<Routes>({
      // A worker says how it is, and nothing more.
      routes: settings.role === 'worker' ? systemRoutes : deploymentRoutes,
      handlers: services.handlers as Handlers<Routes>,
      accessOf: (caller) => services.auth?.authorizer.accessOf(caller) ?? openAccess,
      observe: (...request) => services.metrics.request(...request),
      authenticate: limits.around(services.auth?.authenticate ?? authenticatorFor(mode, addressOf)),
      openStream: (caller) => limits.openStream(caller),
      logger,
      platform:
        settings.role === 'worker'
          ? undefined
          : {
              authenticate: limits.around(services.platform.authenticate),
              routes: platformRoutes,
              handlers: services.platform.handlers as Handlers<Routes>,
            },
      limits: {
        bodyBytes: bodyLimitBytes,
        json: { ...requestLimits, ...json },
        uploadBytes: settings.platform.ingestLimitBytes,
      },
      heartbeatMs,
      parsing,
    });
    const isAnonymous = mode.kind === 'anonymous';
    const hosts = isAnonymous && mode.local ? localHosts(host) : undefined;
    const listener = await listen(app, { host, port, logger, gate: { cors, hosts, sameSite: isAnonymous } });
    opened.push({ [Symbol.asyncDispose]: () => listener.close() });
    if (settings.role !== 'worker') opened.push(await announced(listener.url, settings, logger));
    return {
      url: listener.url,
      graphs: [...project.graphs.keys()],
      firstKey: services.firstKey,
      drain: (hurry) => services.drain(settings.runs.shutdownGraceMs, hurry),
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
};

/** A folder that cannot be written to keeps nobody from serving. */
const announced = async (url: string, { storage }: Settings, logger: Logger): Promise<AsyncDisposable> => {
  try {
    return await announce(storage.dataDir, url);
  } catch (err) {
    logger.warn({ err }, 'commands on this machine have to be told where the server is, by --url');
    return { [Symbol.asyncDispose]: () => Promise.resolve() };
  }
};

const authenticatorFor = (mode: AccessMode, addressOf: AddressOf): Authenticate => {
  switch (mode.kind) {
    case 'custom':
      throw new Error('custom authentication has an authenticator of its own');
    case 'keys':
      return apiKeyAuthenticator(mode.keys);
    case 'anonymous':
      return anonymousAuthenticator(addressOf);
  }
};

/** Opens the database of the settings without bringing its schema up to date. */
export const withUnmigratedDatabase = async <T>(
  settings: Settings,
  work: (database: Database) => Promise<T>,
): Promise<T> => {
  await using connection = await openConnection(settings.storage);
  await using database = await openDatabase(connection.options);
  return await work(database);
};

/** Does work that needs the database and no server. */
export const withDatabase = async <T>(
  settings: Settings,
  work: (storage: Storage) => Promise<T>,
): Promise<T> => {
  return await withUnmigratedDatabase(settings, async (database) => {
    await migrate(database);
    return work(createStorage(database));
  });
};
