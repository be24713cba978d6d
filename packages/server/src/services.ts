// The composition root: settings in, one object of services out. Everything with a lifetime is built here
// once and disposed in reverse order.
import type { deploymentRoutes } from '@svc/contract';
import type { Logger } from 'pino';
import type { Settings } from './config/settings.ts';
import type { SvcJson } from './config/svc-json.ts';
import { assistantHandlers } from './deployment/assistants/assistant-handlers.ts';
import { AssistantService } from './deployment/assistants/assistant-service.ts';
import { IntrospectionService } from './deployment/assistants/introspection-service.ts';
import type { Handlers } from './deployment/handlers.ts';
import { runHandlers } from './deployment/runs/run-handlers.ts';
import { RunService } from './deployment/runs/run-service.ts';
import { storeHandlers } from './deployment/store/store-handlers.ts';
import { StoreService } from './deployment/store/store-service.ts';
import { serverFacts } from './deployment/system/server-facts.ts';
import { systemHandlers } from './deployment/system/system-handlers.ts';
import { StateReader } from './deployment/threads/state-reader.ts';
import { StateService } from './deployment/threads/state-service.ts';
import { threadHandlers } from './deployment/threads/thread-handlers.ts';
import { ThreadService } from './deployment/threads/thread-service.ts';
import { RunStreams } from './events/run-streams.ts';
import { Dispatcher } from './runtime/dispatcher.ts';
import type { Database, DatabaseOptions } from './storage/database.ts';
import { createStorage } from './storage/storage.ts';

export interface Services extends AsyncDisposable {
  handlers: Handlers<typeof deploymentRoutes>;
  dispatcher: Dispatcher;
}

/** Bytes of events kept per resumable run. */
const keptBytesMax = 10 * 1024 * 1024;
const attemptsMax = 3;
const pollMs = 1_000;

export interface ServiceParts {
  database: Database;
  /** How executors open connections of their own. */
  databaseOptions: DatabaseOptions;
  settings: Settings;
  project: SvcJson;
  logger: Logger;
}

export const createServices = async (parts: ServiceParts): Promise<Services> => {
  const { database, databaseOptions, settings, project, logger } = parts;
  const storage = createStorage(database);
  const streams = new RunStreams({ retentionMs: settings.runs.streamTtlMs, keptBytesMax });
  const graphs = new Map(project.graphs);
  const assistants = new AssistantService(storage, graphs);
  await assistants.syncDefaults();
  const dispatcher = new Dispatcher({
    runs: storage.runs,
    streams,
    leaseMs: settings.runs.leaseMs,
    attemptsMax,
    pollMs,
    logger,
    executors: settings.runs.executors,
    jobsPerExecutor: settings.runs.jobsPerWorker,
    setup: { database: databaseOptions, graphs: [...graphs], env: project.env },
  });
  const reader = new StateReader(storage.checkpoints);
  const states = new StateService(storage, reader, dispatcher);
  const threads = new ThreadService(storage, reader, states, dispatcher);
  const runs = new RunService({ storage, dispatcher, streams, reader, graphs: new Set(graphs.keys()) });
  const introspection = new IntrospectionService(dispatcher.pool);
  const handlers = {
    ...systemHandlers(storage, await serverFacts()),
    ...assistantHandlers(assistants, introspection),
    ...threadHandlers(threads, states, project.compat),
    ...runHandlers(runs),
    ...storeHandlers(new StoreService(storage.items)),
  };
  return {
    handlers,
    dispatcher,
    async [Symbol.asyncDispose]() {
      await dispatcher[Symbol.asyncDispose]();
      streams[Symbol.dispose]();
    },
  };
};
