// The routes as an OpenAPI 3.1 document.
import { z } from 'zod';
import { problems, type ProblemCode } from './problem.ts';
import type { Routes, RouteShape } from './route.ts';

type Schema = Record<string, unknown>;

const Problem = {
  type: 'object',
  required: ['detail', 'message', 'code', 'request_id'],
  properties: {
    detail: {
      description: 'A sentence; for a request that fails validation, the faults',
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
 * Schemas with an id become components; everything else stands where it is used. What a client sends may differ
 * from what it gets (defaults): then both stand side by side, the former as `…Input`.
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
      this.schemas[nameOf(name)] = relocate(definition, nameOf) as Schema;
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

/** References to where components live; ids have done their work. */
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

const withoutId = (schema: Schema): Schema =>
  Object.fromEntries(Object.entries(schema).filter(([key]) => key !== 'id'));

const parameters = (route: RouteShape, components: Components): Schema[] => [
  ...(['params', 'query'] as const).flatMap((place) => {
    const shape = route[place]?.shape ?? {};
    return Object.entries(shape).map(([name, schema]) => {
      const json = components.of(schema as z.ZodType, 'input');
      const isRequired = place === 'params' || !(schema as z.ZodType).safeParse(undefined).success;
      return { name, in: place === 'params' ? 'path' : 'query', required: isRequired, schema: json };
    });
  }),
  ...Object.entries(route.requestHeaders ?? {}).map(([name, description]) => ({
    name,
    in: 'header',
    description,
    schema: { type: 'string' },
  })),
];

const contentTypes = {
  json: 'application/json',
  late: 'application/json',
  sse: 'text/event-stream',
  html: 'text/html',
  text: 'text/plain',
};

const success = (route: RouteShape, components: Components): Schema => {
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
  const byStatus = [...codes].map((code) => [problems[code].status, problems[code].title] as const);
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

const operation = (name: string, route: RouteShape, components: Components): Schema => ({
  operationId: name,
  summary: route.summary,
  tags: [route.tag],
  ...(route.params || route.query || route.requestHeaders
    ? { parameters: parameters(route, components) }
    : {}),
  ...(route.upload
    ? {
        requestBody: {
          required: true,
          content: Object.fromEntries(route.upload.map((type) => [type, { schema: {} }])),
        },
      }
    : {}),
  ...(route.body
    ? {
        requestBody: {
          required: !route.bodyOptional,
          content: { 'application/json': { schema: components.of(route.body, 'input') } },
        },
      }
    : {}),
  responses: { [route.status ?? 200]: success(route, components), ...failures(route) },
});

/** Deterministic: the same routes give the same document, in the order in which they are written. */
export const openapiDocument = (routes: Routes, version: string, title = 'svc deployment API'): Schema => {
  const components = new Components(routes);
  const paths: Record<string, Schema> = {};
  for (const [name, route] of Object.entries(routes)) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    (paths[path] ??= {})[route.method] = operation(name, route, components);
  }
  const schemas = Object.fromEntries(
    Object.entries(components.schemas).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
  return {
    openapi: '3.1.0',
    info: { title, version, license: { name: 'MIT', identifier: 'MIT' } },
    paths,
    components: { schemas },
  };
};
