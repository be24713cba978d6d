// The server as a part of another program: its routes as functions, without a socket.
import { loadConfig } from '../config/config.ts';
import { processEnvironment } from '../config/environment.ts';
import { ConfigError } from '../config/project/mistake.ts';
import type { SettingKey } from '../config/settings/definitions.ts';
import { type Exposure, exposureOf } from '../config/settings/exposure.ts';
import type { Settings } from '../config/settings/settings.ts';
import type { SvcJson } from '../config/project/svc-json.ts';
import { embed, type Embedded } from '../http/server/embedded.ts';
import { createLogger, type Logger } from '../telemetry/logger.ts';
import type { HostAuthenticate } from './host-auth.ts';
import { mountPrefix, pageGuard } from './mount-prefix.ts';
import { startEarlyParts } from './early-parts.ts';
import { owning } from './owned.ts';
import { openServedApp } from './served-app.ts';
import { explainData } from './explain-data.ts';

export interface SvcHandlerOptions {
  /** `svc.json`, or its folder; the working directory by default. */
  config?: string;
  /** Path of the routes in the program, such as `/agents`; without it they are at the root. */
  prefix?: string;
  /** False: other processes execute runs and do the other work of a worker. True by default. */
  workers?: boolean;
  /** Returns the user of a request, or nothing for a request that is not authenticated. */
  authenticate?: HostAuthenticate;
  /** Serves everybody who can reach the program, without authentication. */
  allowAnonymous?: boolean;
  /** The address of the routes, with the prefix, for `new Client()` without a URL in graphs. */
  url?: string;
  /** Settings by their keys in `svc.json`, as text: `{ bodyLimit: '1mb' }`. They have priority over variables. */
  settings?: Partial<Record<SettingKey, string>>;
  /** The log of the server; by default as the settings say, to standard error. */
  logger?: Logger;
}

export interface SvcHandler extends Embedded, AsyncDisposable {
  graphs: string[];
  /** Claims no more runs. Resolves when all runs here have ended, or their grace period is over, or `hurry` is aborted. */
  drain(hurry?: AbortSignal): Promise<void>;
  /** Closes everything, and asks the clients of WebSockets to connect again. Runs that have not ended are given back to other processes. */
  close(): Promise<void>;
}

/** How long closing waits for WebSockets whose clients do not answer. */
const socketGraceMs = 5000;

/** Opens the database, starts the executors, and resolves with functions that answer requests. */
export const createSvcHandler = async (options: SvcHandlerOptions = {}): Promise<SvcHandler> => {
  const { settings, project } = loadConfig({
    cwd: process.cwd(),
    env: processEnvironment(),
    flags: {
      ...options.settings,
      role: options.workers === false ? 'api' : 'all',
      ...(options.prefix === undefined ? {} : { mountPrefix: options.prefix }),
      ...(options.allowAnonymous === true ? { allowAnonymous: 'true' } : {}),
    },
    ...(options.config === undefined ? {} : { configPath: options.config }),
  });
  const logger = options.logger ?? createLogger(settings.log);
  for (const warning of project.warnings) logger.warn(warning);
  const exposure = handlerExposure(settings, project, options);
  for (const warning of [...exposure.warnings, ...settings.telemetry.warnings]) logger.warn(warning);
  const { authenticate } = options;
  try {
    const handler = await owning(async (owned) => {
      const served = { settings, project, logger, authenticate };
      const early = startEarlyParts(served, owned);
      const { app, upgrades, streams, services } = await openServedApp(served, exposure, early, owned);
      owned.keep({ [Symbol.asyncDispose]: () => upgrades.close(socketGraceMs) });
      owned.keep({ [Symbol.asyncDispose]: () => streams.interrupt() });
      owned.keep(services.runChanges);
      services.setAddress(options.url ?? null);
      const prefix = mountPrefix({ settings, project });
      const guard = pageGuard(served, exposure);
      return {
        ...embed({ app, prefix, guard, logger, upgrades }),
        graphs: [...project.graphs.keys()],
        drain: (hurry = new AbortController().signal) => services.drain(settings.runs.shutdownGraceMs, hurry),
      };
    });
    return {
      ...handler,
      close: async () => {
        await handler[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    throw await explainData(error, settings);
  }
};

const handlerExposure = (
  settings: Settings,
  project: SvcJson,
  { authenticate }: SvcHandlerOptions,
): Exposure => {
  const exposure = exposureOf(settings, project);
  if (authenticate) return { ...exposure, mode: { kind: 'custom' } };
  if (exposure.mode.kind !== 'anonymous' || !exposure.mode.local) return exposure;
  throw new ConfigError({
    where: 'createSvcHandler()',
    problem: 'everybody who can reach the program could use the routes',
    remedy:
      'Pass authenticate, or set "auth" in svc.json or SVC_API_KEY. With allowAnonymous: true there is no authentication.',
  });
};
