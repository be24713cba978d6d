// The composition root: settings in, one object of services out. Everything with a lifetime is built here
// once and disposed in reverse order.
import { randomUUID } from 'node:crypto';
import type { deploymentRoutes } from '@svc/contract';
import type { Logger } from 'pino';
import { customAuth, type CustomAuth } from '../auth/handlers/custom-auth.ts';
import type { AuthDefinition } from '../auth/handlers/auth-definition.ts';
import { ownerKey, type Access } from '../auth/authorization/authorizer.ts';
import { Filter } from '../auth/authorization/access-filter.ts';
import { RunUsers } from '../auth/sealed-users/run-users.ts';
import { LazySealer } from '../auth/sealed-users/lazy-sealer.ts';
import type { Settings } from '../config/settings/settings.ts';
import type { SvcJson } from '../config/project/svc-json.ts';
import { assistantHandlers } from '../deployment/assistants/assistant-handlers.ts';
import { AssistantService } from '../deployment/assistants/assistant-service.ts';
import { IntrospectionService } from '../deployment/assistants/introspection-service.ts';
import { cronHandlers } from '../deployment/crons/cron-handlers.ts';
import { CronScheduler } from '../deployment/crons/cron-scheduler.ts';
import { CronService } from '../deployment/crons/cron-service.ts';
import { expiryDefaults, expiryDuties } from '../deployment/expiry.ts';
import type { Handlers } from '../api/handlers.ts';
import { RunCanceller } from '../deployment/runs/run-canceller.ts';
import { RunFollower } from '../deployment/runs/run-follower.ts';
import { runDuties } from '../deployment/runs/run-tasks.ts';
import { runHandlers } from '../deployment/runs/run-handlers.ts';
import { RunGranter } from '../deployment/runs/run-grant.ts';
import { RunService } from '../deployment/runs/run-service.ts';
import { storeHandlers } from '../deployment/store/store-handlers.ts';
import { StoreService } from '../deployment/store/store-service.ts';
import { serverFacts } from '../deployment/system/server-facts.ts';
import { systemHandlers } from '../deployment/system/system-handlers.ts';
import { PruneService } from '../deployment/threads/prune-service.ts';
import { StateReader } from '../deployment/threads/state-reader.ts';
import { StateService, type Updater } from '../deployment/threads/state-service.ts';
import { ThreadDeletion } from '../deployment/threads/thread-deletion.ts';
import { threadHandlers } from '../deployment/threads/thread-handlers.ts';
import { ThreadService } from '../deployment/threads/thread-service.ts';
import { ThreadWatch } from '../deployment/threads/thread-watch.ts';
import { webhookHandlers } from '../deployment/webhooks/webhook-handlers.ts';
import { WebhookSender } from '../deployment/webhooks/webhook-sender.ts';
import { WebhookService } from '../deployment/webhooks/webhook-service.ts';
import { EgressGuard } from '../net/guard.ts';
import { Bell } from '../jobs/notification-bus.ts';
import { LogTail } from '../engine/streams/log-tail.ts';
import { RunStreams } from '../engine/streams/run-streams.ts';
import { Duties } from '../jobs/periodic-tasks.ts';
import { bootstrap, type FirstKey } from '../auth/keys/bootstrap.ts';
import { ingestLimits } from '../parsing/json-limits.ts';
import type { ServerParsing } from './parser-tasks.ts';
import { exportDuties } from '../exports/worker/export-tasks.ts';
import type { ExportWorker } from '../exports/worker/export-worker.ts';
import { startExports } from '../exports/worker/start-exports.ts';
import { createPlatform, type Platform } from './platform.ts';
import { traceDuties } from '../tracing/traces/trace-tasks.ts';
import { createReadiness } from './node-readiness.ts';
import { type Owned, owning } from './owned.ts';
import { Dispatcher } from '../engine/dispatch/dispatcher.ts';
import type { ExecutorSetup } from '../engine/dispatch/protocol.ts';
import { WorkerReporter } from '../engine/dispatch/worker-reporter.ts';
import type { AnswerLimits } from '../storage/postgres/answer-limits.ts';
import type { ConnectionPlan } from '../storage/postgres/connection-plan.ts';
import type { Database, DatabaseOptions } from '../storage/postgres/database.ts';
import { createStorage, type Storage } from '../storage/storage.ts';
import { nodeTtlMs } from '../storage/deployment/workers.ts';
import { Metrics } from '../telemetry/metrics.ts';

export interface Services extends AsyncDisposable {
  handlers: Handlers<typeof deploymentRoutes>;
  /** Undefined: users are not told apart. */
  auth: CustomAuth | undefined;
  platform: Platform;
  /** Of the platform, when it was made just now. */
  firstKey: FirstKey | undefined;
  dispatcher: Dispatcher;
  metrics: Metrics;
  /** Takes no more runs; resolves when none execute here, after `graceMs`, or when hurried. */
  drain(graceMs: number, hurry: AbortSignal): Promise<void>;
}

const attemptsMax = 3;
/** How often to look for what nobody announced; and no less than twice in the life of a lease. */
const pollMsMax = 1_000;

export interface ServiceParts {
  database: Database;
  /** How executors and exporters open connections of their own. */
  databaseOptions: DatabaseOptions;
  plan: ConnectionPlan;
  /** Why the embedded PostgreSQL is away, while it is. */
  databaseFailure: () => string | undefined;
  settings: Settings;
  project: SvcJson;
  /** The project's auth object; undefined when it has none. */
  authDefinition: AuthDefinition | undefined;
  parsing: ServerParsing;
  logger: Logger;
}

/** What runs are executed with, on this node and with others. */
const createRuntime = async (
  parts: ServiceParts,
  storage: Storage,
  users: RunUsers,
  metrics: Metrics,
  owned: Owned,
) => {
  const { database, databaseOptions, settings, project, logger } = parts;
  const { role, runs } = settings;
  const pollMs = Math.min(pollMsMax, runs.leaseMs / 2);
  const streams = owned.keep(new RunStreams());
  const bell = new Bell();
  const tail = owned.keep(
    new LogTail({
      streams,
      log: storage.runLog,
      runs: storage.runs,
      bell,
      pollMs,
      onLag: (ms) => metrics.eventLag(ms),
      logger,
    }),
  );
  const dispatcher = new Dispatcher({
    worker_id: randomUUID(),
    leases: storage.runLeases,
    queue: storage.runQueue,
    runs: storage.runs,
    streams,
    users,
    tail,
    bell,
    leaseMs: runs.leaseMs,
    attemptsMax,
    limits: { timeoutMs: runs.timeoutMs, graceMs: runs.cancelGraceMs },
    pollMs,
    logger,
    // A node that only answers requests still looks at graphs, and applies state updates.
    executors: role === 'api' ? 1 : runs.executors,
    jobsPerExecutor: role === 'api' ? 0 : runs.jobsPerWorker,
    solitaryMax: parts.plan.solitary,
    setup: {
      database: { ...databaseOptions, poolMax: parts.plan.executor },
      graphs: [...project.graphs],
      env: project.env,
      ...tracingOf(settings),
    },
  });
  owned.keep(dispatcher);
  owned.keep(bell);
  await bell.open(database);
  const node = { executesRuns: role !== 'api', connections: parts.plan.total };
  const reporter = owned.keep(new WorkerReporter(storage.workers, dispatcher, node, logger));
  return { streams, bell, tail, dispatcher, reporter, pollMs };
};

const tracingOf = ({
  platform: { tracingProject: project, traceDaysKept: daysKept },
}: Settings): Pick<ExecutorSetup, 'tracing'> =>
  project === undefined ? {} : { tracing: { project, daysKept } };

type Runtime = Awaited<ReturnType<typeof createRuntime>>;

const watchRuntime = (
  metrics: Metrics,
  { database }: ServiceParts,
  storage: Storage,
  { dispatcher, streams }: Runtime,
): void =>
  metrics.watch({
    queue: () => storage.workers.queue(nodeTtlMs(dispatcher.leaseMs)),
    process: () => ({
      running: dispatcher.running,
      free_slots: dispatcher.pool.freeSlots,
      leases_lost: dispatcher.leasesLost,
      leases_recovered: dispatcher.recovered,
      executor_crashes: dispatcher.pool.crashes,
      streams: streams.size,
      ended: dispatcher.ended,
      ...database.poolState(),
    }),
  });

/** A node without custom authentication may still execute runs that another one made for its users. */
const createAuth = async (
  { settings, project, authDefinition, logger }: ServiceParts,
  lazySealer: LazySealer,
) => {
  const { auth: config, compat } = project;
  const { encryptionKey } = settings.auth;
  const hasSecrets = config !== undefined || encryptionKey !== undefined;
  const sealer = hasSecrets ? await lazySealer.get() : undefined;
  const auth =
    config &&
    authDefinition &&
    customAuth(authDefinition, { config, settings: settings.auth, compat, logger });
  return { auth, users: new RunUsers(sealer, compat) };
};

/** Of assistants only a user's own lend their configuration to an update, and default ones. */
const updaterOf =
  (users: RunUsers) =>
  ({ user }: Access): Updater => ({
    keys: users.keys(user),
    assistantAccess: user === undefined ? Filter.everything : Filter.parse({ [ownerKey]: user.identity }),
  });

const openPlatform = async (
  { settings, project, parsing, plan, logger }: ServiceParts,
  storage: Storage,
  { bell, guard, sealer, metrics }: { bell: Bell; guard: EgressGuard; sealer: LazySealer; metrics: Metrics },
) => {
  const { bootstrapApiKey, bootstrapWorkspaceId, traceDaysKept: daysKept, traceQueryMs } = settings.platform;
  const firstKey =
    settings.role === 'worker'
      ? undefined
      : await bootstrap(storage.apiKeys, {
          dataDir: settings.storage.dataDir,
          key: bootstrapApiKey?.reveal(),
          workspaceId: bootstrapWorkspaceId,
          warn: (text) => logger.warn(text),
        });
  const { compression, scheduleLagMs, fileRoots, folderRules, lendsCredentials } = settings.exports;
  const [fileRoot = settings.storage.dataDir] = fileRoots;
  const platform = createPlatform({
    storage,
    bell,
    poolMax: plan.server,
    daysKept,
    queryMs: traceQueryMs,
    observer: metrics,
    reading: {
      limits: {
        ...ingestLimits,
        ...settings.platform.ingestJson,
        madeBytesMax: settings.platform.ingestLimitBytes,
      },
      ...parsing,
    },
    exports: { compression, scheduleLagMs, fileRoot, compat: project.compat },
    sealer,
    stores: { guard, fileRoots, folderRules, lendsCredentials },
  });
  return { platform, firstKey };
};

const openExports = (
  { databaseOptions: database, settings, plan, logger }: ServiceParts,
  storage: Storage,
  { bell, platform }: { bell: Bell; platform: Platform },
): ExportWorker =>
  startExports({
    leases: storage.exportLeases,
    targetOf: (tenant_id, id) => platform.destinations.target(tenant_id, id),
    bell,
    database,
    slots: plan.exporters,
    settings,
    logger,
  });

/** What a worker does beside executing runs. */
const startChores = (
  { settings, project, logger }: ServiceParts,
  storage: Storage,
  {
    pruning,
    guard,
    bell,
    pollMs,
    owned,
  }: { pruning: PruneService; guard: EgressGuard; bell: Bell; pollMs: number; owned: Owned },
): void => {
  const chores = [
    ...expiryDuties(project.raw, { pruning, expiry: storage.expiry }),
    new ThreadDeletion(storage).duty(),
    ...runDuties(storage, settings.runs.streamTtlMs),
    ...traceDuties(
      { partitions: storage.tracePartitions, hours: storage.traceHours, projects: storage.projects },
      settings.platform.traceDaysKept,
    ),
    ...exportDuties(storage.exportLeases, settings.exports),
  ];
  owned.keep(new Duties(storage.duties, chores, { pollMs, logger }));
  owned.keep(new CronScheduler({ crons: storage.crons, pollMs, logger }));
  const sender = owned.keep(
    new WebhookSender({
      deliveries: storage.deliveries,
      guard,
      rules: project.webhooks,
      secret: settings.egress.webhookSecret,
      logger,
    }),
  );
  bell.on('w', () => sender.wake());
};

const answerLimits = ({
  settings: {
    http: { answerLimitBytes },
  },
  parsing: { memory },
}: ServiceParts): AnswerLimits => ({
  memory,
  pageBytes: answerLimitBytes,
  valueBytes: answerLimitBytes * 4,
});

/** When a part cannot be built, those before it are closed. */
export const createServices = (parts: ServiceParts): Promise<Services> =>
  owning((owned) => buildServices(parts, owned));

const buildServices = async (
  parts: ServiceParts,
  owned: Owned,
): Promise<Omit<Services, keyof AsyncDisposable>> => {
  const { settings, project, logger } = parts;
  const answers = answerLimits(parts);
  const storage = createStorage(parts.database, answers);
  const graphs = new Map(project.graphs);
  await storage.expiry.configure(expiryDefaults(project.raw));
  const assistants = new AssistantService(storage, graphs);
  await assistants.syncDefaults();
  const sealer = new LazySealer({
    encryptionKey: settings.auth.encryptionKey,
    storage: settings.storage,
    keys: storage.encryptionKeys,
  });
  const { auth, users } = await createAuth(parts, sealer);
  const metrics = new Metrics();
  const runtime = await createRuntime(parts, storage, users, metrics, owned);
  watchRuntime(metrics, parts, storage, runtime);
  const { dispatcher, streams, tail, bell, pollMs, reporter } = runtime;
  const reader = new StateReader(storage, parts.parsing.parser, answers);
  const states = new StateService(storage, reader, dispatcher);
  const threads = new ThreadService(storage, reader, states, dispatcher);
  const guard = new EgressGuard(settings.egress.allow);
  const webhooks = new WebhookService({ storage, guard, rules: project.webhooks });
  const pruning = new PruneService(storage, threads);
  if (settings.role !== 'api') startChores(parts, storage, { pruning, guard, bell, pollMs, owned });
  const follower = new RunFollower({ storage, dispatcher, streams, tail, reader });
  const canceller = new RunCanceller(storage.runs, dispatcher, follower, logger);
  const runs = new RunService({
    storage,
    dispatcher,
    streams,
    tail,
    webhooks,
    users,
    graphs: new Set(graphs.keys()),
  });
  const granter = new RunGranter(assistants.defaultIds);
  const watch = new ThreadWatch({ threads: storage.threads, runs: storage.runs, follower, bell, pollMs });
  const readiness = await createReadiness(parts, storage, dispatcher);
  const handlers = {
    ...systemHandlers({ database: storage, readiness, metrics, facts: await serverFacts() }),
    ...assistantHandlers(assistants, new IntrospectionService(dispatcher.pool)),
    ...threadHandlers(threads, states, pruning, updaterOf(users), project.compat),
    ...runHandlers({ runs, granter, follower, canceller, watch, log: storage.runLog }),
    ...cronHandlers(new CronService(storage, webhooks, users), granter),
    ...webhookHandlers(webhooks),
    ...storeHandlers(new StoreService(storage.items)),
  };
  const { platform, firstKey } = await openPlatform(parts, storage, { bell, guard, sealer, metrics });
  const exporting =
    settings.role === 'api' ? undefined : owned.keep(openExports(parts, storage, { bell, platform }));
  metrics.watchExports({ queue: () => storage.exportLeases.state(), done: () => exporting?.figures() });
  return {
    handlers,
    auth,
    platform,
    firstKey,
    dispatcher,
    metrics,
    drain: async (graceMs, hurry) => {
      const drained = [
        dispatcher.drain(graceMs, hurry),
        exporting?.drain(graceMs, hurry) ?? Promise.resolve(),
      ];
      reporter.report();
      await Promise.all(drained);
    },
  };
};
