// Wiring of the engine: the dispatcher, the event hub, and their connections to other nodes.
import { randomUUID } from 'node:crypto';
import type { RunUsers } from '../auth/sealed-users/run-users.ts';
import { findTsconfig } from '../config/project/tsconfig.ts';
import type { Settings } from '../config/settings/settings.ts';
import { NotificationBus } from '../jobs/notification-bus.ts';
import { RunLogTail } from '../engine/streams/run-log-tail.ts';
import { RunEventHub } from '../engine/streams/run-event-hub.ts';
import { type Owned } from './owned.ts';
import { ownIdentity } from '../config/process-identity.ts';
import { Dispatcher } from '../engine/dispatch/dispatcher.ts';
import { DeadWorkers } from '../engine/dispatch/dead-workers.ts';
import type { ExecutorSetup } from '../engine/dispatch/protocol.ts';
import { noSlots, slotLimits } from '../engine/dispatch/admission.ts';
import { WorkerReporter } from '../engine/dispatch/worker-reporter.ts';
import { type Storage } from '../storage/storage.ts';
import { nodeTtlMs } from '../storage/deployment/workers.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { ServerTelemetry } from '../telemetry/server-telemetry.ts';

import type { ServiceParts } from './service-parts.ts';
const attemptsMax = 3;
/** Longest interval of polls for work that no notification announced. Polls happen at least twice in the duration of a lease. */
const pollMsMax = 1_000;

/** Everything that executes runs and distributes their events. */
export const createEngine = async (
  parts: ServiceParts,
  storage: Storage,
  { users, metrics, telemetry }: { users: RunUsers; metrics: Metrics; telemetry: ServerTelemetry },
  owned: Owned,
) => {
  const { database, databaseOptions, settings, project, logger, logExport } = parts;
  const { role, runs } = settings;
  const pollMs = Math.min(pollMsMax, runs.leaseMs / 2);
  const streams = owned.keep(new RunEventHub(storage.runLog));
  const notifications = new NotificationBus();
  const identity = ownIdentity({ isLocal: settings.storage.databaseUri === undefined });
  const tail = owned.keep(
    new RunLogTail({
      streams,
      log: storage.runLog,
      runs: storage.runs,
      notifications,
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
    notifications,
    leaseMs: runs.leaseMs,
    attemptsMax,
    onEnded: (status, ms) => metrics.runEnded(status, ms),
    observeAttempt: telemetry.startAttempt,
    onModules: parts.onModules,
    onFlushTrouble: (trouble) => metrics.flushTrouble(trouble),
    onWriteFailure: (result) => metrics.backgroundWriteFailed(result),
    onLogLine: logExport && (({ line, dropped }) => logExport.add(line, dropped)),
    limits: { timeoutMs: runs.timeoutMs, graceMs: runs.cancelGraceMs },
    pollMs,
    logger,
    // A node that only answers requests still introspects graphs and applies state updates.
    executors: role === 'api' ? 1 : runs.executors,
    standby: parts.standby,
    slots: role === 'api' ? noSlots : slotLimits(runs.jobsPerWorker, runs.jobsMax),
    solitaryMax: parts.plan.solitary,
    setup: {
      database: { ...databaseOptions, poolMax: parts.plan.executor },
      graphs: [...project.graphs],
      python: parts.python,
      tsconfig: findTsconfig(project.dir),
      env: project.env,
      log: settings.log,
      sendsLog: logExport !== undefined,
      storeIndex: project.storeIndex,
      ...tracingOf(settings),
    },
  });
  owned.keep(dispatcher);
  owned.keep(notifications);
  await notifications.open(database);
  const node = { executesRuns: role !== 'api', connections: parts.plan.total, identity };
  const reporter = owned.keep(new WorkerReporter(storage.workers, dispatcher, node, logger));
  const { machine } = identity;
  if (node.executesRuns && machine !== null)
    owned.keep(
      new DeadWorkers({
        workers: storage.workers,
        worker_id: dispatcher.worker_id,
        machine,
        pollMs,
        onLeasesEnded: () => dispatcher.queueLostRuns(),
        logger,
      }),
    );
  return { streams, notifications, tail, dispatcher, reporter, pollMs };
};

const tracingOf = ({
  platform: { tracingProject: project, traceDaysKept: daysKept },
}: Settings): Pick<ExecutorSetup, 'tracing'> =>
  project === undefined ? {} : { tracing: { project, daysKept } };

export type Engine = Awaited<ReturnType<typeof createEngine>>;

export const watchEngine = (
  metrics: Metrics,
  { database }: ServiceParts,
  storage: Storage,
  { dispatcher, streams }: Engine,
): void =>
  metrics.watch({
    queue: () => storage.workers.queue(nodeTtlMs(dispatcher.leaseMs)),
    process: () => ({
      running: dispatcher.running,
      free_slots: dispatcher.pool.freeSlots,
      leases_lost: dispatcher.leasesLost,
      leases_recovered: dispatcher.recovered,
      attempts_lost: dispatcher.attemptsLost,
      runs_unstarted: dispatcher.unstarted,
      executor_crashes: dispatcher.pool.crashes,
      executor_kills: dispatcher.pool.kills,
      streams: streams.size,
      ...database.poolState(),
    }),
  });
