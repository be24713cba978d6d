// Wiring of a worker: exports, periodic tasks, crons and webhooks.
import { startCrons } from '../deployment/crons/cron-scheduler.ts';
import { expiryTasks } from '../deployment/expiry.ts';
import { cronTasks } from '../deployment/crons/cron-tasks.ts';
import { jobTasks, type JobTaskParts } from '../deployment/jobs/job-tasks.ts';
import { runTasks } from '../deployment/runs/run-tasks.ts';
import { webhookTasks } from '../deployment/webhooks/webhook-tasks.ts';
import type { PruneService } from '../deployment/threads/prune-service.ts';
import { ThreadDeletion } from '../deployment/threads/thread-deletion.ts';
import { WebhookSender } from '../deployment/webhooks/webhook-sender.ts';
import type { EgressGuard } from '../net/guard.ts';
import type { NotificationBus } from '../jobs/notification-bus.ts';
import { PeriodicTasks } from '../jobs/periodic-tasks.ts';
import { exportTasks } from '../exports/worker/export-tasks.ts';
import { ExportWorker } from '../exports/worker/export-worker.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Platform } from './platform.ts';
import { traceTasks } from '../tracing/traces/trace-tasks.ts';
import { type Owned } from './owned.ts';
import { type Storage } from '../storage/storage.ts';

import type { ServiceParts } from './service-parts.ts';

export const openExports = (
  { databaseOptions: database, replica, settings, plan, logger }: ServiceParts,
  storage: Storage,
  {
    notifications,
    platform,
    metrics,
  }: { notifications: NotificationBus; platform: Platform; metrics: Pick<Metrics, 'backgroundWriteFailed'> },
): ExportWorker =>
  new ExportWorker({
    leases: storage.exportLeases,
    targetOf: (tenant_id, id) => platform.destinations.target(tenant_id, id),
    notifications,
    database,
    replicaTally: replica?.tally,
    slots: plan.exporters,
    onWriteFailure: (result) => metrics.backgroundWriteFailed(result),
    settings,
    logger,
  });

/** Starts the work of a worker other than runs and exports: periodic tasks, crons and webhooks. */
export const startWorkerTasks = (
  { settings, project, customCode, logger }: ServiceParts,
  storage: Storage,
  {
    pruning,
    guard,
    notifications,
    pollMs,
    owned,
    jobs,
  }: {
    pruning: PruneService;
    guard: EgressGuard;
    notifications: NotificationBus;
    pollMs: number;
    owned: Owned;
    jobs: Pick<JobTaskParts, 'actions' | 'users' | 'authorizerFor'>;
  },
): void => {
  const tasks = [
    ...expiryTasks(project.raw, {
      pruning,
      expiry: storage.expiry,
      tickets: storage.tickets,
      consoleSessions: {
        deleteExpired: (limit) =>
          storage.consoleSessions.deleteExpired(limit, settings.http.consoleSessions.idleMs / 1_000),
      },
    }),
    new ThreadDeletion(storage).task(),
    ...runTasks(storage, settings.runs.streamTtlMs),
    ...cronTasks(storage.crons),
    ...jobTasks({ jobs: storage.jobs, ...jobs, logger }),
    ...webhookTasks(storage.deliveries),
    ...traceTasks(
      {
        partitions: storage.tracePartitions,
        hours: storage.traceHours,
        projects: storage.projects,
        feedback: storage.feedback,
      },
      settings.platform.traceDaysKept,
    ),
    ...exportTasks(storage.exportLeases, settings.exports),
  ];
  owned.keep(new PeriodicTasks(storage.periodicTasks, tasks, { pollMs, logger }));
  owned.keep(startCrons({ crons: storage.crons, pollMs, logger }));
  owned.keep(
    new WebhookSender({
      deliveries: storage.deliveries,
      notifications,
      guard,
      rules: project.webhooks,
      secret: settings.egress.webhookSecret,
      sendOwn: customCode?.sendWebhook,
      logger,
    }),
  );
};
