// Wiring of the platform API: traces, projects, workspaces, keys and exports.
import type { platformRoutes } from '@svc/contract';
import type { Authenticate } from '../auth/principal/caller.ts';
import type { Handlers } from '../api/handlers.ts';
import type { NotificationBus } from '../jobs/notification-bus.ts';
import type { LazySealer } from '../auth/sealed-users/lazy-sealer.ts';
import type { Storage } from '../storage/storage.ts';
import { CredentialVault } from '../exports/destinations/credential-vault.ts';
import { destinationHandlers, DestinationService } from '../exports/destinations/destination-service.ts';
import type { StoreParts } from '../exports/destinations/open-store.ts';
import { exportHandlers, type ExportRules, ExportService } from '../exports/api/export-service.ts';
import { feedbackHandlers, FeedbackService } from '../tracing/feedback/feedback-service.ts';
import { storeFeedbackParts } from '../tracing/feedback/feedback-parts.ts';
import { feedbackTokenHandlers, FeedbackTokenService } from '../tracing/feedback/feedback-token-service.ts';
import { KeyAuthenticator } from '../auth/keys/key-authenticator.ts';
import { keyHandlers, KeyService } from '../auth/keys/key-service.ts';
import { priceHandlers, PriceService } from '../tracing/prices/price-service.ts';
import { projectHandlers, ProjectService } from '../tracing/projects/project-service.ts';
import { Admission } from '../tracing/ingest/admission.ts';
import type { OnRefused } from '../tracing/ingest/split-store.ts';
import { type IngestObserver, IngestService, type ReadingParts } from '../tracing/ingest/ingest-service.ts';
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
import type { ShownSetting } from '../config/settings/settings.ts';

export interface PlatformParts {
  storage: Storage;
  notifications: NotificationBus;
  /** Database connections of the server process. */
  poolMax: number;
  daysKept: number;
  /** Time budget of a query of traces. */
  queryMs: number;
  /** Called with figures of what is ingested. */
  observer: IngestObserver;
  onIngestRefused: OnRefused;
  reading: ReadingParts;
  sealer: LazySealer;
  stores: StoreParts;
  exports: ExportRules;
  /** The settings in force. */
  settings: readonly ShownSetting[];
  /** Milliseconds after its last report from which a worker is silent. */
  workerTtlMs: number;
}

export interface Platform {
  handlers: Handlers<typeof platformRoutes>;
  authenticate: Authenticate;
  destinations: DestinationService;
}

const inFlightBytesMax = 67_108_864;
const waitingMax = 500;

export const createPlatform = (parts: PlatformParts): Platform => {
  const { storage, notifications, poolMax, daysKept, queryMs, observer, sealer, stores } = parts;
  const authenticator = new KeyAuthenticator(storage.apiKeys);
  notifications.on('k', (key_id) => authenticator.forget(key_id));
  notifications.onMissed(() => authenticator.forget());
  const projects = new ProjectService(storage.projects);
  // Writes of traces get a third of the connections, so that runs always get one.
  const writersMax = Math.max(1, Math.floor(poolMax / 3));
  const admission = new Admission({
    bytesMax: inFlightBytesMax,
    writersMax,
    waitingMax,
    onReleased: parts.reading.collectSoon,
  });
  const prices = new PriceService(storage.modelPrices);
  const feedback = new FeedbackService(storage.feedback);
  const ingest = new IngestService({
    traces: storage.traces,
    projects,
    prices,
    admission,
    daysKept,
    onRefused: parts.onIngestRefused,
    storeFeedback: async (tenant_id, sent, rejections) => {
      if (sent.length === 0) return 0;
      const options = { service: feedback, limits: parts.reading.limits, rejections };
      return admission.write(() => storeFeedbackParts(tenant_id, sent, options));
    },
    observer,
    ...parts.reading,
  });
  const attachments = new AttachmentService(storage.traces, sealer);
  const traces = new TraceService(storage, attachments, queryMs);
  const vault = new CredentialVault(sealer);
  const destinations = new DestinationService({ destinations: storage.destinations, vault, stores });
  return {
    authenticate: authenticator.authenticate,
    destinations,
    handlers: {
      ...workspaceHandlers(new WorkspaceService(storage.workspaces), authenticator),
      ...serverHandlers({ ...parts, workspaces: storage.workspaces, workers: storage.workers }),
      ...keyHandlers(new KeyService(storage.apiKeys)),
      ...projectHandlers(projects),
      ...traceHandlers({ ingest, traces, attachments }),
      ...runReadHandlers(new RunReadService(traces, attachments)),
      ...threadReadHandlers(new ThreadReadService(traces, storage.traces)),
      ...traceThreadHandlers(new TraceThreadService(storage.traces, queryMs), traces),
      ...priceHandlers(prices),
      ...feedbackHandlers(feedback),
      ...feedbackTokenHandlers(new FeedbackTokenService(storage.feedbackTokens, feedback)),
      ...destinationHandlers(destinations),
      ...exportHandlers(new ExportService(storage, parts.exports)),
    },
  };
};
