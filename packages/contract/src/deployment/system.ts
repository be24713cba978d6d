import * as z from 'zod';
import { JsonObject, QueryBoolean } from '../json.ts';
import { routesOf } from '../route.ts';

const route = routesOf('System');
const access = 'public';

export const systemRoutes = {
  getOk: route('get', '/ok', {
    summary: 'Whether the server is up',
    access,
    query: z.object({
      check_db: QueryBoolean.optional().describe('Whether the database is checked too'),
      check_stopping: QueryBoolean.optional().describe(
        'Whether the response is 503 while the server stops, for proxies',
      ),
    }),
    response: z.object({ ok: z.literal(true) }),
    errors: ['unavailable'],
  }),
  getReady: route('get', '/ready', {
    summary: 'Readiness: 503 while the server starts or stops, or when it cannot serve requests',
    access,
    response: z.object({
      ready: z.literal(true),
      workers: z.int().describe('Live workers that claim runs'),
      slots: z
        .int()
        .describe(
          'How many runs these workers can execute at the same time, without executors that are blocked',
        ),
      pending: z.int(),
      running: z.int(),
      oldest_pending_ms: z.number().nullable().describe('Age of the oldest run that waits only for a worker'),
      failed_graphs: z
        .array(z.string())
        .optional()
        .describe('Graphs that cannot be loaded: their runs fail. The log has the reasons'),
      blocked_executors: z
        .int()
        .optional()
        .describe(
          'Executors of this process with an event loop that a graph has blocked for more than 20 seconds. They execute no other run, and slots does not count them',
        ),
      failed_store_index: z
        .literal(true)
        .optional()
        .describe(
          'Present when the embedding model of store.index cannot be loaded: searches of the store with a query, and puts of items with texts, fail. The log has the reason',
        ),
    }),
    errors: ['unavailable'],
  }),
  getMetrics: route('get', '/metrics', {
    summary: 'Metrics of this process and of the queue, for Prometheus',
    access,
    kind: 'text',
    ignored: { query: { format: 'Metrics have one format, that of Prometheus.' } },
    response: z.string(),
  }),
  getInfo: route('get', '/info', {
    summary: 'Versions and features of this server',
    access,
    response: z.looseObject({ version: z.string(), flags: JsonObject }),
  }),
  getOpenApi: route('get', '/openapi.json', {
    summary: 'Both APIs as an OpenAPI 3.1 document',
    access,
    response: JsonObject,
  }),
};
