// The routes as an OpenAPI 3.1 document.
import type * as z from 'zod';
import { bodyExamples, parameterExamples } from './openapi-examples.ts';
import { Components, type Schema } from './openapi-components.ts';
import { responsesOf, sharedResponses } from './openapi-responses.ts';
import type { Routes, RouteShape } from './route.ts';

const parametersIn = (
  place: 'path' | 'query',
  operation: string,
  schema: z.ZodObject,
  components: Components,
): Schema[] =>
  Object.entries(schema.shape as Record<string, z.ZodType>).map(([name, one]) => {
    const { description, pattern, ...json } = components.of(one, 'input');
    const example = parameterExamples[`${operation}.${name}`] ?? parameterExamples[name];
    return {
      name,
      in: place,
      required: place === 'path' || !one.safeParse(undefined).success,
      description: description ?? parameterDescriptions[name],
      // The pattern of a number is that of its text.
      schema: pattern === undefined || json['type'] === 'integer' ? json : { ...json, pattern },
      ...(example === undefined ? {} : { example }),
    };
  });

const workspaceHeader = {
  name: 'x-tenant-id',
  in: 'header',
  required: false,
  description: 'Id of the workspace; required when the key has access to several',
  schema: { type: 'string', format: 'uuid' },
};

const parameters = (name: string, route: RouteShape, components: Components): Schema[] => [
  ...(route.params ? parametersIn('path', name, route.params, components) : []),
  ...(route.query ? parametersIn('query', name, route.query, components) : []),
  ...Object.entries(route.requestHeaders ?? {}).map(([header, description]) => ({
    name: header,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  })),
  ...(typeof route.access === 'object' && 'permission' in route.access ? [workspaceHeader] : []),
];

/** Who may call an operation, and how its response arrives. */
const describe = ({ summary, description, access, kind }: RouteShape): string => {
  const sentences = [`${summary}.`, ...(description === undefined ? [] : [description])];
  if (access === 'public') sentences.push('Needs no authentication.');
  else if (access === 'caller') sentences.push('Every authenticated caller may use it.');
  else if ('permission' in access)
    sentences.push(`Needs a key with the permission \`${access.permission}\`.`);
  else {
    const events = [access.action].flat().map((action) => `\`${access.resource}:${action}\``);
    sentences.push(`Handlers of custom authentication are called with the event ${events.join(' or ')}.`);
  }
  if (kind === 'sse') sentences.push('The response is a stream of server-sent events.');
  if (kind === 'rpc') sentences.push('Errors are JSON-RPC responses.');
  if (kind === 'socket') sentences.push('Needs the handshake of a WebSocket; other requests get 426.');
  if (kind === 'deferred')
    sentences.push('The status and headers are sent at once; the JSON follows when the run ends.');
  return sentences.join(' ');
};

/** Deployments may run without authentication; the platform API always needs a key. */
const security = ({ access }: RouteShape): Schema[] => {
  if (access === 'public') return [];
  return access !== 'caller' && 'permission' in access
    ? [{ apiKey: [] }]
    : [{ apiKey: [] }, { bearer: [] }, {}];
};

const requestBody = (name: string, route: RouteShape, components: Components): Schema | undefined => {
  if (route.upload) {
    const content = Object.fromEntries(route.upload.map((type) => [type, { schema: {} }]));
    return { required: true, content };
  }
  if (!route.body) return undefined;
  const schema = components.of(route.body, 'input');
  const content = { 'application/json': { schema, example: bodyExamples[name] } };
  return { required: !route.bodyOptional, content };
};

const operation = (name: string, route: RouteShape, components: Components): Schema => {
  const listed = parameters(name, route, components);
  const body = requestBody(name, route, components);
  return {
    operationId: name,
    summary: route.summary,
    description: describe(route),
    tags: [route.tag],
    security: security(route),
    ...(listed.length > 0 ? { parameters: listed } : {}),
    ...(body ? { requestBody: body } : {}),
    responses: responsesOf(route, components),
  };
};

const securitySchemes = {
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description: 'A key of the platform API, or the key of the deployment (SVC_API_KEY)',
  },
  bearer: { type: 'http', scheme: 'bearer', description: 'A token that the custom authentication accepts' },
};

/** The address of a server with default settings, which the document names. */
export const defaultServer = 'http://127.0.0.1:2024';

/** Deterministic: the same routes give the same document, in the order in which they are written. */
export const openapiDocument = (routes: Routes, version: string): Schema => {
  const components = new Components(routes);
  const paths: Record<string, Schema> = {};
  for (const [name, route] of Object.entries(routes)) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    (paths[path] ??= {})[route.method] = operation(name, route, components);
  }
  const schemas = Object.fromEntries(
    Object.entries(components.schemas).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
  const tags = [...new Set(Object.values(routes).map(({ tag }) => tag))];
  return {
    openapi: '3.1.0',
    info: {
      title: 'svc API',
      version,
      description:
        'Assistants, threads and runs (the deployment API), and traces, keys and exports (the platform API).\n\nAny path answers other methods with 405 and the supported ones in `Allow`, as OPTIONS does. A request that arrives too slowly gets 408, a host name that the server does not serve 421, and features of HTTP that it lacks 417 or 501. The auth handlers of a project may refuse a request with a status of their own.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: defaultServer }],
    tags: tags.map((name) => ({ name, description: tagDescriptions[name] })),
    paths,
    components: { schemas, responses: sharedResponses(routes), securitySchemes },
  };
};

// What the OpenAPI document says about tags and parameters that many operations share.

const tagDescriptions: Readonly<Record<string, string>> = {
  Assistants: 'A graph with a configuration, in versions. Every graph has a default assistant.',
  Threads: 'Conversations with checkpointed state.',
  'Thread protocol': 'Thread protocol v2: commands, and one feed of the events of a thread.',
  Runs: 'Executions of an assistant, on a thread or without one: in the background, streamed or awaited.',
  Crons: 'Schedules that create runs.',
  Jobs: 'Actions on many runs or threads.',
  Store: 'The long-term store, which graphs see as `config.store`.',
  MCP: 'Assistants as tools of the Model Context Protocol.',
  A2A: 'Assistants as agents of the Agent2Agent protocol.',
  UI: 'Components of the project that web pages load.',
  Console: 'Sessions of the console in a browser.',
  System: 'Health, metrics, versions, and this document.',
  'Server settings': 'The settings of the server that answers.',
  Workspaces: 'Traces, keys and exports that are isolated from those of other workspaces.',
  'API keys': 'Keys of the platform API, with a role.',
  Projects: 'Named groups of traces; stock clients call them sessions.',
  Traces: 'Trees of trace runs: sending, reading and searching them.',
  'Threads of traces': 'Conversations, found by the metadata of trace runs.',
  Feedback: 'Scores and comments on trace runs.',
  'Model prices': 'What a token of a model costs.',
  'Export destinations': 'Buckets and folders to which exports are written.',
  'Bulk exports': 'Traces of a project as Parquet files, once or on a schedule.',
};

/** Descriptions by the name of the parameter. Used when its schema has no description. */
const parameterDescriptions: Readonly<Record<string, string>> = {
  action: '`interrupt` keeps what the run has written; `rollback` removes the run and its checkpoints',
  after: 'Only events with a larger id',
  assistant_id: 'Id of an assistant, or of a graph, which means the default assistant of the graph',
  before: 'Only states before this checkpoint',
  bulk_export_destination_id: 'Only exports to this destination',
  cancel_on_disconnect: 'Whether the run is cancelled when this client disconnects',
  checkpoint_id: 'Id of the checkpoint',
  created_after: 'Only exports that were created at this time or later',
  created_before: 'Only exports that were created before this time',
  cron_id: 'Id of the cron',
  job_id: 'Id of the job',
  delivery_id: 'Id of a delivery to a webhook',
  cursor: 'Continues a search: `cursors.next` or `next_cursor` of the page before',
  delete_threads: 'Whether the threads of the assistant are deleted too',
  destination_id: 'Id of the destination',
  export_id: 'Id of the export',
  feedback_id: 'Id of the feedback',
  id: 'Id of the trace run',
  filter: 'A filter that the trace runs must match',
  is_root: 'Only roots of traces, or only other trace runs',
  key: 'Key of the item, or of the feedback',
  key_id: 'Id of the API key',
  limit: 'How many objects are returned at most',
  max_start_time: 'Only trace runs that started at this time or earlier',
  min_start_time: 'Only trace runs that started at this time or later',
  name: 'Name of the object',
  namespace: 'Namespace of the subgraph',
  offset: 'How many objects are skipped',
  price_id: 'Id of the price',
  project_id: 'Id of the project',
  recurse: 'Whether subgraphs of subgraphs are included',
  run_id: 'Id of the run',
  session_id: 'Id of the project',
  source_bulk_export_id: 'Only exports that this schedule created',
  status: 'Only objects with this status',
  stream_mode: 'Only events of these modes',
  stream_modes: 'The same as `stream_mode`',
  subgraphs: 'Whether the states of subgraphs are included',
  thread_id: 'Id of the thread',
  token: 'The token of the link',
  trace_id: 'Id of the trace',
  version: 'Number of the version',
  wait: 'Whether the response waits until the run has ended',
};
