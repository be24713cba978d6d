// The routes as an OpenAPI 3.1 document.
import * as z from 'zod';
import { bodyExamples, parameterExamples } from './openapi-examples.ts';
import { parameterDescriptions, tagDescriptions } from './openapi-parameters.ts';
import { problems, type ProblemCode } from './problem.ts';
import type { Routes, RouteShape } from './route.ts';

type Schema = Record<string, unknown>;

const Problem = {
  type: 'object',
  required: ['detail', 'message', 'code', 'request_id'],
  properties: {
    detail: {
      description: 'The message; for a request that fails validation, the list of faults',
      oneOf: [
        { type: 'string' },
        {
          type: 'array',
          items: {
            type: 'object',
            required: ['loc', 'msg', 'type'],
            properties: {
              loc: { type: 'array', items: { type: ['string', 'integer'] } },
              msg: { type: 'string' },
              type: { type: 'string' },
            },
          },
        },
      ],
    },
    message: { type: 'string' },
    code: { type: 'string', enum: Object.keys(problems) },
    request_id: { type: 'string' },
  },
};

/**
 * Schemas with an id become components; all others are written where they are used. A schema whose input and output differ (by its
 * defaults) becomes two components; that of the input is named `…Input`.
 */
class Components {
  readonly schemas: Record<string, Schema> = { Problem };
  readonly #outputs = new Map<string, string>();

  constructor(routes: Routes) {
    for (const { response } of Object.values(routes)) {
      const { $defs = {} } = toJson(response, 'output');
      for (const [name, definition] of Object.entries($defs))
        this.#outputs.set(name, JSON.stringify(definition));
    }
  }

  of(schema: z.ZodType, io: 'input' | 'output'): Schema {
    const { $defs = {}, ...own } = toJson(schema, io);
    const nameOf = (name: string): string => {
      const output = this.#outputs.get(name);
      const isSame = io === 'output' || output === undefined || output === JSON.stringify($defs[name]);
      return isSame ? name : `${name}Input`;
    };
    for (const [name, definition] of Object.entries($defs)) {
      const component = relocate(definition, nameOf) as Schema;
      const known = this.schemas[nameOf(name)];
      if (known !== undefined && JSON.stringify(known) !== JSON.stringify(component))
        throw new Error(`Two schemas have the id ${name}`);
      this.schemas[nameOf(name)] = component;
    }
    return relocate(own, nameOf) as Schema;
  }
}

const toJson = (schema: z.ZodType, io: 'input' | 'output'): Schema & { $defs?: Record<string, Schema> } => {
  const { $schema: dialect, ...json } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    target: 'draft-2020-12',
  });
  if (dialect !== 'https://json-schema.org/draft/2020-12/schema')
    throw new Error(`${dialect} is not the dialect of OpenAPI 3.1`);
  return json as Schema;
};

/** Rewrites references to the document's components, and removes ids. */
const relocate = (node: unknown, nameOf: (name: string) => string): unknown => {
  if (Array.isArray(node)) return node.map((child) => relocate(child, nameOf));
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(withoutId(node as Schema)).map(([key, value]) => {
      if (key !== '$ref' || typeof value !== 'string') return [key, relocate(value, nameOf)];
      return [key, `#/components/schemas/${nameOf(value.replace('#/$defs/', ''))}`];
    }),
  );
};

/** Without the id of the schema; in a list of properties, `id` is a schema and stays. */
const withoutId = (schema: Schema): Schema =>
  Object.fromEntries(
    Object.entries(schema).filter(([key, value]) => key !== 'id' || typeof value !== 'string'),
  );

const parametersIn = (
  place: 'path' | 'query',
  operation: string,
  schema: z.ZodObject,
  components: Components,
): Schema[] =>
  Object.entries(schema.shape as Record<string, z.ZodType>).map(([name, one]) => {
    const { description, ...json } = components.of(one, 'input');
    const example = parameterExamples[`${operation}.${name}`] ?? parameterExamples[name];
    return {
      name,
      in: place,
      required: place === 'path' || !one.safeParse(undefined).success,
      description: description ?? parameterDescriptions[name],
      schema: json,
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

const contentTypes = {
  json: 'application/json',
  deferred: 'application/json',
  rpc: 'application/json',
  sse: 'text/event-stream',
  html: 'text/html',
  text: 'text/plain',
  file: '*/*',
};

const statusOf = ({ kind, status = 200 }: RouteShape): number => {
  if (kind === 'socket') return 101;
  return kind === 'redirect' ? 303 : status;
};

const success = (route: RouteShape, components: Components): Schema => {
  if (route.kind === 'socket') return { description: 'The connection is a WebSocket' };
  if (route.kind === 'redirect') {
    const location = { description: 'Where the browser goes on', schema: { type: 'string' } };
    return { description: 'See Location', headers: { Location: location } };
  }
  const headers = Object.fromEntries(
    Object.entries(route.headers ?? {}).map(([name, description]) => [
      name,
      { description, schema: { type: 'string' } },
    ]),
  );
  const response = {
    description: route.status === 204 ? 'Done' : 'Success',
    ...(route.headers ? { headers } : {}),
  };
  if (route.status === 204) return response;
  const schema = components.of(route.response, 'output');
  return { ...response, content: { [contentTypes[route.kind ?? 'json']]: { schema } } };
};

const failures = (route: RouteShape): Schema => {
  const codes = new Set<ProblemCode>(['internal', 'unavailable', ...((route.errors ?? []) as ProblemCode[])]);
  if (route.access !== 'public') codes.add('unauthenticated').add('rate_limited');
  if (route.body || route.params || route.query) codes.add('invalid');
  if (typeof route.access === 'object' && 'permission' in route.access)
    for (const code of ['unauthenticated', 'forbidden'] as const) codes.add(code);
  if (route.body || route.upload)
    for (const code of ['bad_request', 'too_large', 'unsupported_media_type'] as const) codes.add(code);
  const byStatus: [number, string][] = [...codes].map((code) => [
    problems[code].status,
    problems[code].title,
  ]);
  if (route.kind === 'socket') byStatus.push([426, 'Not the handshake of a WebSocket']);
  return Object.fromEntries(
    byStatus
      .toSorted(([a], [b]) => a - b)
      .map(([status, description]) => [
        status,
        {
          description,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Problem' } } },
        },
      ]),
  );
};

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
    responses: {
      [statusOf(route)]: success(route, components),
      ...failures(route),
    },
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
        'Assistants, threads and runs (the deployment API), and traces, keys and exports (the platform API).',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: defaultServer }],
    tags: tags.map((name) => ({ name, description: tagDescriptions[name] })),
    paths,
    components: { schemas, securitySchemes },
  };
};
