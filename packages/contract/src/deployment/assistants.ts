import * as z from 'zod';
import { AssistantRef, Empty, Id, Json, JsonObject, Metadata, nullish, QueryBoolean, Time } from '../json.ts';
import { limit, offset, pageHeaders, paginationHeaders, sortBy, SortOrder } from '../page.ts';
import { routesOf } from '../route.ts';

const Tags = z.array(z.string().max(256)).max(100);
const RecursionLimit = z.int().min(1).max(10_000);
const configMeta = { id: 'Config', description: 'The configuration of a graph' };

export const Config = z
  .looseObject({
    tags: nullish(Tags),
    recursion_limit: nullish(RecursionLimit),
    configurable: nullish(JsonObject),
  })
  .meta(configMeta);
export type Config = z.output<typeof Config>;

/** As responses have it: a key that is not set is absent. */
const StoredConfig = z
  .looseObject({
    tags: Tags.optional(),
    recursion_limit: RecursionLimit.optional(),
    configurable: JsonObject.optional(),
  })
  .meta(configMeta);

const GraphId = z.string().min(1).max(256);
const Name = z.string().min(1).max(256);
const Description = z.string().max(8_192);

export const Assistant = z
  .object({
    assistant_id: Id,
    graph_id: GraphId,
    name: Name,
    description: Description.nullable(),
    config: StoredConfig,
    context: Json,
    metadata: Metadata,
    version: z.int(),
    created_at: Time,
    updated_at: Time,
  })
  .meta({ id: 'Assistant', description: 'A graph with a configuration, in versions' });
export type Assistant = z.output<typeof Assistant>;

const fields = [
  'assistant_id',
  'graph_id',
  'name',
  'description',
  'config',
  'context',
  'created_at',
  'updated_at',
  'metadata',
  'version',
] as const;

const params = z.object({ assistant_id: AssistantRef });
const access = (action: string) => ({ resource: 'assistants', action }) as const;
const route = routesOf('Assistants');

export const GraphSchemas = z
  .looseObject({
    graph_id: GraphId,
    input_schema: Json,
    output_schema: Json,
    state_schema: Json,
    config_schema: Json,
    context_schema: Json,
  })
  .meta({ id: 'GraphSchemas', description: 'JSON Schemas; null where one cannot be derived' });
export type GraphSchemas = z.output<typeof GraphSchemas>;

const filters = {
  metadata: nullish(Metadata),
  graph_id: nullish(GraphId),
  name: nullish(z.string().max(256)),
};

export const assistantRoutes = {
  createAssistant: route('post', '/assistants', {
    summary: 'Create an assistant',
    access: access('create'),
    body: z.object({
      graph_id: GraphId,
      assistant_id: nullish(Id),
      config: nullish(Config),
      context: nullish(Json),
      metadata: nullish(Metadata),
      if_exists: nullish(z.enum(['raise', 'do_nothing'])).transform((value) => value ?? 'raise'),
      name: nullish(Name),
      description: nullish(Description),
    }),
    response: Assistant,
    errors: ['not_found', 'conflict'],
  }),
  searchAssistants: route('post', '/assistants/search', {
    summary: 'Search assistants',
    access: access('search'),
    bodyOptional: true,
    body: z.object({
      ...filters,
      limit: limit(10),
      offset,
      sort_by: sortBy(['assistant_id', 'graph_id', 'name', 'created_at', 'updated_at'], 'created_at'),
      sort_order: SortOrder,
      select: nullish(z.array(z.enum(fields)).max(fields.length)),
    }),
    response: z.array(Assistant),
    headers: paginationHeaders,
  }),
  countAssistants: route('post', '/assistants/count', {
    summary: 'Count assistants',
    access: access('search'),
    bodyOptional: true,
    body: z.object(filters),
    response: z.int(),
  }),
  getAssistant: route('get', '/assistants/:assistant_id', {
    summary: 'Get an assistant',
    access: access('read'),
    params,
    response: Assistant,
    errors: ['not_found'],
  }),
  updateAssistant: route('patch', '/assistants/:assistant_id', {
    summary: 'Update an assistant by creating a new version',
    access: access('update'),
    params,
    body: z.object({
      graph_id: nullish(GraphId),
      config: nullish(Config),
      context: nullish(Json),
      metadata: nullish(Metadata),
      name: nullish(Name),
      description: nullish(Description),
    }),
    response: Assistant,
    errors: ['not_found'],
  }),
  deleteAssistant: route('delete', '/assistants/:assistant_id', {
    audited: 'assistant.delete',
    summary: 'Delete an assistant with its versions',
    access: access('delete'),
    params,
    query: z.object({ delete_threads: QueryBoolean.optional() }),
    status: 204,
    response: Empty,
    errors: ['not_found', 'conflict'],
  }),
  getAssistantGraph: route('get', '/assistants/:assistant_id/graph', {
    summary: 'The nodes and edges of an assistant’s graph',
    access: access('read'),
    params,
    query: z.object({
      xray: z
        .union([
          QueryBoolean,
          z
            .string()
            .regex(/^\d{1,2}$/)
            .transform(Number),
        ])
        .optional()
        .describe('Whether subgraphs are included, or how many levels of them'),
    }),
    response: z.object({ nodes: z.array(JsonObject), edges: z.array(JsonObject) }),
    errors: ['not_found'],
  }),
  getAssistantSchemas: route('get', '/assistants/:assistant_id/schemas', {
    summary: 'JSON Schemas of an assistant’s input, output, state, config and context',
    access: access('read'),
    params,
    response: GraphSchemas,
    errors: ['not_found'],
  }),
  getAssistantSubgraphs: route('get', '/assistants/:assistant_id/subgraphs', {
    summary: 'Schemas of the subgraphs, by node',
    access: access('read'),
    params,
    query: z.object({ recurse: QueryBoolean.optional() }),
    response: z.record(z.string(), JsonObject),
    errors: ['not_found'],
  }),
  getAssistantSubgraphsOf: route('get', '/assistants/:assistant_id/subgraphs/:namespace', {
    summary: 'Schemas of the subgraphs of one namespace',
    access: access('read'),
    params: z.object({ assistant_id: AssistantRef, namespace: z.string().max(1_024) }),
    query: z.object({ recurse: QueryBoolean.optional() }),
    response: z.record(z.string(), JsonObject),
    errors: ['not_found'],
  }),
  listAssistantVersions: route('post', '/assistants/:assistant_id/versions', {
    summary: 'Versions of an assistant, newest first',
    access: access('read'),
    params,
    bodyOptional: true,
    body: z.object({ limit: limit(10), offset, metadata: nullish(Metadata) }),
    response: z.array(Assistant),
    headers: pageHeaders,
    errors: ['not_found'],
  }),
  setLatestAssistant: route('post', '/assistants/:assistant_id/latest', {
    summary: 'Make a version the current one',
    description: '`version` is in the body or in the query.',
    access: access('update'),
    params,
    query: z.object({
      version: z
        .string()
        .regex(/^\d{1,9}$/)
        .transform(Number)
        .optional(),
    }),
    bodyOptional: true,
    body: z.object({ version: nullish(z.int().min(1).max(1_000_000_000)) }),
    response: Assistant,
    errors: ['not_found'],
  }),
};
