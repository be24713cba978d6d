// The platform API, put together: what traces, projects, workspaces and keys need of each other.
import type { platformRoutes } from '@svc/contract';
import type { Authenticate } from '../access/caller.ts';
import type { Handlers } from '../api/handlers.ts';
import type { Bell } from '../events/bell.ts';
import type { LazySealer } from '../secrets/lazy-sealer.ts';
import type { Storage } from '../storage/storage.ts';
import { CredentialVault } from './destinations/credential-vault.ts';
import { destinationHandlers } from './destinations/destination-handlers.ts';
import { DestinationService } from './destinations/destination-service.ts';
import type { StoreParts } from './destinations/open-store.ts';
import { exportHandlers } from './exports/export-handlers.ts';
import { type ExportRules, ExportService } from './exports/export-service.ts';
import { feedbackHandlers } from './feedback/feedback-handlers.ts';
import { FeedbackService } from './feedback/feedback-service.ts';
import { KeyGate } from './keys/key-gate.ts';
import { keyHandlers } from './keys/key-handlers.ts';
import { KeyService } from './keys/key-service.ts';
import { priceHandlers } from './prices/price-handlers.ts';
import { PriceService } from './prices/price-service.ts';
import { projectHandlers } from './projects/project-handlers.ts';
import { ProjectService } from './projects/project-service.ts';
import { Admission } from './traces/admission.ts';
import { type IngestObserver, IngestService, type ReadingParts } from './traces/ingest-service.ts';
import { traceThreadHandlers } from './threads/trace-thread-handlers.ts';
import { TraceThreadService } from './threads/trace-thread-service.ts';
import { traceHandlers } from './traces/trace-handlers.ts';
import { TraceService } from './traces/trace-service.ts';
import { workspaceHandlers } from './workspaces/workspace-handlers.ts';
import { WorkspaceService } from './workspaces/workspace-service.ts';

export interface PlatformParts {
  storage: Storage;
  bell: Bell;
  /** Connections that the whole process has. */
  poolMax: number;
  daysKept: number;
  /** Budget of a query of traces. */
  queryMs: number;
  /** Told of what is taken in. */
  observer: IngestObserver;
  reading: ReadingParts;
  sealer: LazySealer;
  stores: StoreParts;
  exports: ExportRules;
}

export interface Platform {
  handlers: Handlers<typeof platformRoutes>;
  authenticate: Authenticate;
  destinations: DestinationService;
}

const inFlightBytesMax = 67_108_864;
const waitingMax = 500;

export const createPlatform = (parts: PlatformParts): Platform => {
  const { storage, bell, poolMax, daysKept, queryMs, observer, sealer, stores } = parts;
  const gate = new KeyGate(storage.apiKeys);
  bell.on('k', (key_id) => gate.forget(key_id));
  bell.onMissed(() => gate.forget());
  const projects = new ProjectService(storage.projects);
  // Traces may be many; runs must still get a connection.
  const writersMax = Math.max(1, Math.floor(poolMax / 3));
  const admission = new Admission({
    bytesMax: inFlightBytesMax,
    writersMax,
    waitingMax,
    onReleased: parts.reading.collectSoon,
  });
  const prices = new PriceService(storage.modelPrices);
  const ingest = new IngestService({
    traces: storage.traces,
    projects,
    prices,
    admission,
    daysKept,
    observer,
    ...parts.reading,
  });
  const traces = new TraceService(storage.traces, storage.feedback, queryMs);
  const vault = new CredentialVault(sealer);
  const destinations = new DestinationService({ destinations: storage.destinations, vault, stores });
  return {
    authenticate: gate.authenticate,
    destinations,
    handlers: {
      ...workspaceHandlers(new WorkspaceService(storage.workspaces), gate),
      ...keyHandlers(new KeyService(storage.apiKeys)),
      ...projectHandlers(projects),
      ...traceHandlers({ ingest, traces }),
      ...traceThreadHandlers(new TraceThreadService(storage.traces, queryMs), traces),
      ...priceHandlers(prices),
      ...feedbackHandlers(new FeedbackService(storage.feedback)),
      ...destinationHandlers(destinations),
      ...exportHandlers(new ExportService(storage, parts.exports)),
    },
  };
};
