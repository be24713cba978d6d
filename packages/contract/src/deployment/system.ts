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
