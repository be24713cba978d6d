import { z } from 'zod';
import { JsonObject, QueryBoolean } from '../json.ts';
import { route } from '../route.ts';

const tag = 'System';
const access = 'public';

export const systemRoutes = {
  getOk: route({
    method: 'get',
    path: '/ok',
    summary: 'Whether the server is up',
    tag,
    access,
    query: z.object({ check_db: QueryBoolean.optional().describe('Also ask the database') }),
    response: z.object({ ok: z.literal(true) }),
    errors: ['unavailable'],
  }),
  getReady: route({
    method: 'get',
    path: '/ready',
    summary: 'Whether requests should be sent here: 503 while the server stops, or lacks something',
    tag,
    access,
    response: z.object({
      ready: z.literal(true),
      workers: z.int().describe('Live workers that take runs'),
      pending: z.int(),
      running: z.int(),
      oldest_pending_ms: z.number().nullable().describe('Of runs that only wait for a worker'),
    }),
    errors: ['unavailable'],
  }),
  getMetrics: route({
    method: 'get',
    path: '/metrics',
    summary: 'Measurements of this process and of the queue, for Prometheus',
    tag,
    access,
    kind: 'text',
    ignored: { query: { format: 'Metrics have one format, that of Prometheus.' } },
    response: z.string(),
  }),
  getInfo: route({
    method: 'get',
    path: '/info',
    summary: 'Versions, and what this server offers',
    tag,
    access,
    response: z.looseObject({ version: z.string(), flags: JsonObject }),
  }),
  getOpenApi: route({
    method: 'get',
    path: '/openapi.json',
    summary: 'This API as an OpenAPI 3.1 document',
    tag,
    access,
    response: JsonObject,
  }),
  getDocs: route({
    method: 'get',
    path: '/docs',
    summary: 'This API as a page to read',
    tag,
    access,
    kind: 'html',
    response: z.string(),
  }),
};
