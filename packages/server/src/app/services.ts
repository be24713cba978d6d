// The composition root: builds all services from the settings. Everything with a lifetime is built here once, and disposed in reverse
// order.
import { consoleRoutes, type deploymentRoutes } from '@svc/contract';
import { servesConsole } from '../config/settings/exposure.ts';
import { customAuth } from '../auth/handlers/custom-auth.ts';
import { type CredentialFor, RunUsers } from '../auth/sealed-users/run-users.ts';
import { TicketService } from '../auth/tickets/ticket-service.ts';
import { LazySealer } from '../auth/sealed-users/lazy-sealer.ts';
import { credentialKey } from '../engine/dispatch/run-command.ts';
import { AssistantService } from '../deployment/assistants/assistant-service.ts';
import { expiryDefaults } from '../deployment/expiry.ts';
import type { Handlers } from '../api/handlers.ts';
import { serverFacts, type ServerFacts } from '../deployment/system/system-handlers.ts';
import { EgressGuard } from '../net/guard.ts';
import { bootstrap, type FirstKey } from '../auth/keys/bootstrap.ts';
import { createPlatform } from './platform.ts';
import { type Owned, owning } from './owned.ts';
import type { RunChangeNotifier } from '../deployment/runs/run-change-notifier.ts';
import type { ExportWorker } from '../exports/worker/export-worker.ts';
import type { AnswerLimits } from '../storage/postgres/answer-limits.ts';
import { createStorage, type Storage } from '../storage/storage.ts';
import { Metrics } from '../telemetry/metrics.ts';
import type { ServerTelemetry } from '../telemetry/server-telemetry.ts';

import { servedRoutes } from './served-routes.ts';
import type { SignInStorage } from './console-sign-in.ts';
import type { ServiceParts } from './service-parts.ts';
import { createDeployment } from './deployment.ts';
import { createEngine, type Engine, watchEngine } from './engine.ts';
import { openExports, startWorkerTasks } from './worker.ts';

/** A node without custom authentication may execute runs that another node created for its users. */
const createAuth = async (
  { settings, project, authDefinition, ownRequests, logger }: ServiceParts,
  lazySealer: LazySealer,
) => {
  const { auth: config, compat } = project;
  const { encryptionKey } = settings.auth;
  const hasSecrets = authDefinition !== undefined || encryptionKey !== undefined;
  const sealer = hasSecrets ? await lazySealer.get() : undefined;
  const auth =
    authDefinition && customAuth(authDefinition, { config, settings: settings.auth, compat, logger });
  const credentialFor: CredentialFor = (user, attempt) => {
    const credential = ownRequests?.issue(user, attempt);
    return credential === undefined ? {} : { [credentialKey]: credential };
  };
  return { auth, users: new RunUsers(sealer, compat, credentialFor) };
};

/** A worker serves no platform API. */
const createFirstKey = async (
  { settings: { role, storage: folder, platform }, logger }: ServiceParts,
  storage: Storage,
): Promise<FirstKey | undefined> => {
  if (role === 'worker') return undefined;
  return bootstrap(storage.apiKeys, {
    dataDir: folder.dataDir,
    key: platform.bootstrapApiKey?.reveal(),
    workspaceId: platform.bootstrapWorkspaceId,
    warn: (text) => logger.warn(text),
  });
};

const nothingSent: ServerTelemetry = {
  startRequest: undefined,
  startAttempt: undefined,
  [Symbol.asyncDispose]: () => Promise.resolve(),
};

/** Loads the SDK of OpenTelemetry only when something is sent: it takes a tenth of a second. */
const openTelemetry = async (
  { settings: { telemetry }, instanceId, logger }: ServiceParts,
  metrics: Metrics,
  version: string,
): Promise<ServerTelemetry> => {
  if (telemetry.spans === undefined && telemetry.metrics === undefined) return nothingSent;
  const { startOtlpExport } = await import('../telemetry/otlp/otlp-export.ts');
  const readMetrics = () => metrics.snapshot();
  return startOtlpExport(telemetry, { version, instanceId, readMetrics, logger });
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

/** When a part cannot be built, the parts before it are closed. */
export const createServices = (parts: ServiceParts) => owning((owned) => buildServices(parts, owned));

export type Services = Awaited<ReturnType<typeof createServices>>;

const readFacts = ({ settings, project, mode }: ServiceParts): ServerFacts => {
  const forConsole = servesConsole(mode, settings) ? consoleRoutes : {};
  const routes = { ...servedRoutes(settings.role, project), ...forConsole };
  return serverFacts(routes);
};

const buildServices = async (parts: ServiceParts, owned: Owned) => {
  const { settings, project, mode } = parts;
  const answers = answerLimits(parts);
  const storage = createStorage(parts.database, answers, parts.replica?.traceReads);
  const graphs = new Map(project.graphs);
  const assistants = new AssistantService(storage, graphs, project.graphDefaults);
  const [firstKey] = await Promise.all([
    createFirstKey(parts, storage),
    storage.expiry.configure(expiryDefaults(project.raw)),
    assistants.syncDefaults(),
  ]);
  const facts = readFacts(parts);
  const sealer = new LazySealer({
    encryptionKey: settings.auth.encryptionKey,
    storage: settings.storage,
    keys: storage.encryptionKeys,
  });
  const { auth, users } = await createAuth(parts, sealer);
  const tickets = new TicketService({ storage: storage.tickets, sealer, mode: mode.kind });
  const metrics = new Metrics(facts.svc_version);
  const telemetry = owned.keep(await openTelemetry(parts, metrics, facts.svc_version));
  const engine = await createEngine(parts, storage, { users, metrics, telemetry }, owned);
  watchEngine(metrics, parts, storage, engine);
  metrics.watchLogExport(() => parts.logExport?.lost);
  const { dispatcher, notifications, pollMs } = engine;
  const guard = new EgressGuard(settings.egress.allow);
  const { handlers, pruning, runChanges, jobs } = createDeployment(parts, {
    storage,
    assistants,
    engine,
    answers,
    users,
    metrics,
    facts,
    guard,
    tickets,
    auth,
  });
  if (settings.role !== 'api')
    startWorkerTasks(parts, storage, { pruning, guard, notifications, pollMs, owned, jobs });
  const platform = createPlatform(parts, storage, { notifications, guard, sealer, metrics });
  const exporting =
    settings.role === 'api'
      ? undefined
      : owned.keep(openExports(parts, storage, { notifications, platform, metrics }));
  metrics.watchReplica(parts.replica);
  metrics.watchExports({ queue: () => storage.exportLeases.state(), done: () => exporting?.figures() });
  const signInStorage: SignInStorage = storage;
  return {
    handlers: handlers satisfies Handlers<typeof deploymentRoutes>,
    /** Undefined without custom authentication: all callers are the same user. */
    auth,
    tickets,
    signInStorage,
    sealer,
    guard,
    platform,
    /** The first key of the platform API, if this start has created it. */
    firstKey,
    dispatcher,
    metrics,
    telemetry,
    /** To be disposed before the listener, which waits for open responses. */
    runChanges,
    ownRequests: parts.ownRequests,
    /** Where code of the project reaches the API; null for a process without one. */
    setAddress: (url: string | null): void => {
      dispatcher.pool.setAddress(url);
      parts.ownAddress.set(url);
    },
    ...endingOf(engine, runChanges, exporting),
  };
};

const endingOf = (
  { dispatcher, reporter }: Engine,
  runChanges: RunChangeNotifier,
  exporting: ExportWorker | undefined,
) => ({
  /**
   * Gives the runs that execute here back to other workers. Readers on this node follow the logs of these runs. Resolves when no run is
   * executed here.
   */
  handOver: async (): Promise<void> => {
    const handedOver = dispatcher.handOver();
    reporter.report();
    await Promise.all([handedOver, runChanges.end()]);
  },
  /** Claims no more runs. Resolves when no run is executed here, after `graceMs`, or when `hurry` is aborted. */
  drain: async (graceMs: number, hurry: AbortSignal): Promise<void> => {
    const drained = [
      dispatcher.drain(graceMs, hurry),
      exporting?.drain(graceMs, hurry) ?? Promise.resolve(),
      runChanges.end(),
    ];
    reporter.report();
    await Promise.all(drained);
  },
});
