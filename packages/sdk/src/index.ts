// A typed client for an svc server, for Node and for browsers.
import { AssistantsClient } from './assistants-client.ts';
import { CronsClient } from './crons-client.ts';
import { JobsClient } from './jobs-client.ts';
import { RunsClient } from './runs-client.ts';
import { StoreClient } from './store-client.ts';
import { ThreadsClient } from './threads-client.ts';
import { Transport, type CallOptions, type ClientOptions, type Result } from './transport.ts';

export type Readiness = Result<'getReady'>;

export interface Client {
  assistants: AssistantsClient;
  threads: ThreadsClient;
  runs: RunsClient;
  crons: CronsClient;
  jobs: JobsClient;
  store: StoreClient;
  /** Whether the server is up. */
  ok(options?: CallOptions): Promise<boolean>;
  /** Workers, slots and the queue of runs. Throws ApiError with the reason while no worker can execute runs. */
  ready(options?: CallOptions): Promise<Readiness>;
  /** Versions, and the features that the server supports. */
  info(options?: CallOptions): Promise<{ version: string; flags: Record<string, unknown> }>;
}

/**
 * @example
 * const client = createClient({ apiUrl: 'http://127.0.0.1:2024' });
 * const thread = await client.threads.create();
 * await client.runs.wait(thread.thread_id, 'agent', { input: { messages: [{ role: 'user', content: 'hello' }] } });
 */
export const createClient = (options: ClientOptions): Client => {
  const transport = new Transport(options);
  return {
    assistants: new AssistantsClient(transport),
    threads: new ThreadsClient(transport),
    runs: new RunsClient(transport),
    crons: new CronsClient(transport),
    jobs: new JobsClient(transport),
    store: new StoreClient(transport),
    ok: async (options) => (await transport.call('getOk', {}, options)).ok,
    ready: (options) => transport.call('getReady', {}, options),
    info: (options) => transport.call('getInfo', {}, options),
  };
};

export { createConsoleClient, type ConsoleClient } from './console-client.ts';
export { createPlatformClient, type PlatformClient, type PlatformClientOptions } from './platform-client.ts';
export { ApiError, RunError } from './api-error.ts';
export type {
  DeliverySearchPage,
  RunOptions,
  RunSearchPage,
  RunStreamEvent,
  StartOptions,
} from './runs-client.ts';
export type { ChangeOptions, RunChanges } from './run-changes.ts';
export {
  ExportError,
  type ExportQuery,
  type ExportRunQuery,
  type NewExport,
  type WaitOptions,
} from './exports-client.ts';
export type { NewCredentials } from './destinations-client.ts';
export type { RunPage, SentTraceRun, ThreadPage } from './traces-client.ts';
export type { JobPreview, JobRequest, JobRowPage } from './jobs-client.ts';
export type { CronOptions } from './crons-client.ts';
export type { CheckpointAt, NewThread, StateValuePage } from './threads-client.ts';
export type { CallOptions, ClientOptions } from './transport.ts';
export { verifyWebhook } from './verify-webhook.ts';
export { rerunOptions } from '@svc/contract/rerun';
export type {
  ApiKey,
  Assistant,
  BulkExport,
  ConsoleSession,
  Cron,
  Destination,
  ExportEvent,
  ExportManifest,
  ExportPlan,
  ExportRun,
  Feedback,
  GraphSchemas,
  IngestAnswer,
  Item,
  Job,
  JobRow,
  ListedSession,
  ModelPrice,
  NewApiKey,
  NewDestination,
  OidcFault,
  Probe,
  Project,
  Run,
  RunFigures,
  RunStats,
  RunStatsPoint,
  RunStatsSeries,
  RunTimeline,
  RunTree,
  ServerSetting,
  ServerWorker,
  StateValue,
  Thread,
  ThreadState,
  ThreadTask,
  TraceRun,
  TraceThread,
  WebhookDelivery,
  Workspace,
} from '@svc/contract';
export { AssistantsClient, CronsClient, JobsClient, RunsClient, StoreClient, ThreadsClient };
