// The payload of each event of custom authentication. A handler may change the payload, and the server validates it again
// afterwards. The types of handlers in the SDK are derived from these schemas.
import * as z from 'zod';
import { Id, Json, JsonObject, Metadata, nullish } from '../json.ts';
import { ItemIndex, Namespace } from './store.ts';

const page = { limit: z.int().min(0), offset: z.int().min(0) };
const metadata = nullish(Metadata);
const name = z.string().min(1).max(256);
const Key = z.string().min(1).max(512);

const assistantFields = {
  graph_id: name,
  config: nullish(JsonObject),
  context: nullish(Json),
  metadata,
  name: nullish(name),
  description: nullish(z.string().max(8_192)),
};

/** An empty prefix matches every namespace. */
const Prefix = z.array(z.string().min(1).max(128)).max(32);

export const authEvents = {
  'threads:create': z.object({
    thread_id: nullish(Id),
    metadata,
    if_exists: nullish(z.enum(['raise', 'do_nothing'])),
  }),
  'threads:read': z.object({ thread_id: nullish(Id), run_id: nullish(Id) }),
  'threads:update': z.object({
    thread_id: nullish(Id),
    metadata,
    action: nullish(z.enum(['interrupt', 'rollback'])).describe('Set when runs are cancelled'),
  }),
  'threads:delete': z.object({ thread_id: nullish(Id), run_id: nullish(Id) }),
  'threads:search': z.object({
    ids: nullish(z.array(Id)),
    metadata,
    values: nullish(JsonObject),
    status: nullish(z.string()),
    ...page,
  }),
  'threads:create_run': z.object({
    thread_id: nullish(Id),
    assistant_id: name,
    run_id: nullish(Id),
    status: z.literal('pending'),
    metadata,
    multitask_strategy: z.enum(['reject', 'rollback', 'interrupt', 'enqueue']),
    if_not_exists: z.enum(['create', 'reject']),
    prevent_insert_if_inflight: z.boolean(),
    after_seconds: z.number().min(0),
    kwargs: JsonObject.describe('input, command, config, context, stream_mode, webhook and the like'),
  }),
  'assistants:create': z.object({
    ...assistantFields,
    assistant_id: nullish(Id),
    if_exists: nullish(z.enum(['raise', 'do_nothing'])),
  }),
  'assistants:read': z.object({ assistant_id: name, metadata }),
  'assistants:update': z.object({
    ...assistantFields,
    assistant_id: name,
    graph_id: nullish(name),
    version: nullish(z.int()),
  }),
  'assistants:delete': z.object({ assistant_id: name }),
  'assistants:search': z.object({ graph_id: nullish(name), metadata, ...page }),
  'crons:create': z.object({
    cron_id: nullish(Id),
    thread_id: nullish(Id),
    assistant_id: name,
    schedule: z.string(),
    end_time: nullish(z.string()),
    user_id: nullish(z.string()),
    metadata,
    payload: JsonObject,
  }),
  'crons:read': z.object({ cron_id: Id }),
  'crons:update': z.object({
    cron_id: Id,
    schedule: nullish(z.string()),
    metadata,
    payload: nullish(JsonObject),
  }),
  'crons:delete': z.object({ cron_id: Id }),
  'crons:search': z.object({ assistant_id: nullish(name), thread_id: nullish(Id), metadata, ...page }),
  'store:put': z.object({
    namespace: Namespace.min(1),
    key: Key,
    value: JsonObject,
    index: ItemIndex.nullish(),
  }),
  'store:get': z.object({ namespace: Namespace, key: Key }),
  'store:delete': z.object({ namespace: Namespace, key: Key }),
  'store:search': z.object({
    namespace: Prefix,
    filter: nullish(JsonObject),
    query: nullish(z.string()),
    ...page,
  }),
  'store:list_namespaces': z.object({
    namespace: nullish(Prefix),
    suffix: nullish(Prefix),
    max_depth: nullish(z.int().min(1).max(32)),
    ...page,
  }),
};

export type AuthEvents = typeof authEvents;
export type AuthEvent = keyof AuthEvents;
/** The payload of an event, which a handler may change. */
export type AuthValue<E extends AuthEvent> = z.output<AuthEvents[E]>;

export const authResources = ['assistants', 'threads', 'crons', 'store'] as const;
export type AuthResource = (typeof authResources)[number];
