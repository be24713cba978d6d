// Wiring of the platform API: traces, projects, workspaces, keys and exports.
import type { platformRoutes } from '@svc/contract';
import type { Handlers } from '../api/handlers.ts';
import type { NotificationBus } from '../jobs/notification-bus.ts';
import type { LazySealer } from '../auth/sealed-users/lazy-sealer.ts';
import type { EgressGuard } from '../net/guard.ts';
import { shownSettings } from '../config/settings/settings.ts';
import { ingestLimits } from '../json/json-limits.ts';
import { nodeTtlMs } from '../storage/deployment/workers.ts';
import type { Storage } from '../storage/storage.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { ServiceParts } from './service-parts.ts';
import { CredentialVault } from '../exports/destinations/credential-vault.ts';
import { destinationHandlers, DestinationService } from '../exports/destinations/destination-service.ts';
import { exportHandlers, ExportService } from '../exports/api/export-service.ts';
import {
  feedbackHandlers,
  FeedbackService,
  storeFeedbackParts,
} from '../tracing/feedback/feedback-service.ts';
import { feedbackTokenHandlers, FeedbackTokenService } from '../tracing/feedback/feedback-token-service.ts';
import { KeyAuthenticator } from '../auth/keys/key-authenticator.ts';
import { keyHandlers, KeyService } from '../auth/keys/key-service.ts';
import { priceHandlers, PriceService } from '../tracing/prices/price-service.ts';
import { projectHandlers, ProjectService } from '../tracing/projects/project-service.ts';
import { Admission } from '../tracing/ingest/admission.ts';
import { IngestService } from '../tracing/ingest/ingest-service.ts';
import { AttachmentService } from '../tracing/traces/attachment-service.ts';
import { runReadHandlers } from '../tracing/traces/run-read-handlers.ts';
import { RunReadService } from '../tracing/traces/run-read-service.ts';
import { threadReadHandlers, traceThreadHandlers } from '../tracing/threads/thread-handlers.ts';
import { ThreadReadService } from '../tracing/threads/thread-read-service.ts';
import { TraceThreadService } from '../tracing/threads/trace-thread-service.ts';
import { traceHandlers } from '../tracing/traces/trace-handlers.ts';
import { TraceService } from '../tracing/traces/trace-service.ts';
import { workspaceHandlers, WorkspaceService } from '../auth/workspaces/workspace-service.ts';
import { serverHandlers } from '../auth/workspaces/server-handlers.ts';

interface SharedParts {
  notifications: NotificationBus;
  guard: EgressGuard;
  sealer: LazySealer;
  metrics: Metrics;
}

export type Platform = ReturnType<typeof createPlatform>;

const inFlightBytesMax = 67_108_864;
const waitingMax = 500;

export const createPlatform = (
  { settings, project, parsing, plan, logger }: ServiceParts,
  storage: Storage,
  { notifications, guard, sealer, metrics }: SharedParts,
) => {
  const { traceDaysKept: daysKept, traceQueryMs, ingestJson, ingestLimitBytes } = settings.platform;
  const { compression, scheduleLagMs, fileRoots, folderRules, lendsCredentials } = settings.exports;
  const authenticator = new KeyAuthenticator(storage.apiKeys);
  notifications.on('k', (key_id) => authenticator.forget(key_id));
  notifications.onMissed(() => authenticator.forget());
  const projects = new ProjectService(storage.projects);
  // Writes of traces get a third of the connections, so that runs always get one.
  const writersMax = Math.max(1, Math.floor(plan.server / 3));
  const admission = new Admission({
    bytesMax: inFlightBytesMax,
    writersMax,
    waitingMax,
    onReleased: parsing.collectSoon,
  });
  const prices = new PriceService(storage.modelPrices);
  const feedback = new FeedbackService(storage.feedback);
  const limits = { ...ingestLimits, ...ingestJson, madeBytesMax: ingestLimitBytes };
  const ingest = new IngestService({
    traces: storage.traces,
    projects,
    prices,
    admission,
    daysKept,
    onRefused: ({ statements, error }) => {
      metrics.statementsRefused(statements);
      logger.warn({ statements, err: error }, 'trace items refused by the database, stored in parts');
    },
    storeFeedback: async (tenant_id, sent, rejections) => {
      if (sent.length === 0) return 0;
      return admission.write(() =>
        storeFeedbackParts(tenant_id, sent, { service: feedback, limits, rejections }),
      );
    },
    observer: metrics,
    limits,
    ...parsing,
  });
  const attachments = new AttachmentService(storage.traces, sealer);
  const traces = new TraceService(storage, attachments, traceQueryMs);
  const destinations = new DestinationService({
    destinations: storage.destinations,
    vault: new CredentialVault(sealer),
    stores: { guard, fileRoots, folderRules, lendsCredentials },
  });
  const [fileRoot = settings.storage.dataDir] = fileRoots;
  const handlers: Handlers<typeof platformRoutes> = {
    ...workspaceHandlers(new WorkspaceService(storage.workspaces), authenticator),
    ...serverHandlers({
      settings: shownSettings(settings),
      workspaces: storage.workspaces,
      workers: storage.workers,
      workerTtlMs: nodeTtlMs(settings.runs.leaseMs),
    }),
    ...keyHandlers(new KeyService(storage.apiKeys), authenticator),
    ...projectHandlers(projects),
    ...traceHandlers({ ingest, traces, attachments }),
    ...runReadHandlers(new RunReadService(traces, attachments)),
    ...threadReadHandlers(new ThreadReadService(traces, storage.traces)),
    ...traceThreadHandlers(new TraceThreadService(storage.traces, traceQueryMs), traces),
    ...priceHandlers(prices),
    ...feedbackHandlers(feedback),
    ...feedbackTokenHandlers(new FeedbackTokenService(storage.feedbackTokens, feedback)),
    ...destinationHandlers(destinations),
    ...exportHandlers(
      new ExportService(storage, { compression, scheduleLagMs, fileRoot, compat: project.compat }),
    ),
  };
  return { handlers, authenticate: authenticator.authenticate, destinations };
};
