// The routes as an OpenAPI 3.1 document.
import type * as z from 'zod';
import { bodyExamples, parameterExamples } from './openapi-examples.ts';
import { parameterDescriptions, tagDescriptions } from './openapi-parameters.ts';
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
