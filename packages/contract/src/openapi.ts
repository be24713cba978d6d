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

/** Schemas with an id become components; everything else stands where it is used. */
class Components {
  readonly schemas: Record<string, Schema> = { Problem };

  of(schema: z.ZodType, io: 'input' | 'output'): Schema {
    const {
      $schema: _,
      $defs = {},
      ...own
    } = z.toJSONSchema(schema, { io, unrepresentable: 'any', target: 'draft-2020-12' }) as Schema & {
      $defs?: Record<string, Schema>;
    };
    const suffix = io === 'input' ? 'Input' : '';
    for (const [name, definition] of Object.entries($defs)) {
      this.schemas[this.#name(name, definition, suffix)] = this.#relocate(
        definition,
        $defs,
        suffix,
      ) as Schema;
    }
    return this.#relocate(own, $defs, suffix) as Schema;
  }

  /** What a client sends may differ from what it gets (defaults): then both stand side by side. */
  #name(name: string, definition: Schema, suffix: string): string {
    const present = this.schemas[name];
    const same = present === undefined || JSON.stringify(present) === JSON.stringify(withoutId(definition));
    return same || suffix === '' ? name : `${name}${suffix}`;
  }

  #relocate(node: unknown, definitions: Record<string, Schema>, suffix: string): unknown {
    if (Array.isArray(node)) return node.map((child) => this.#relocate(child, definitions, suffix));
    if (typeof node !== 'object' || node === null) return node;
    return Object.fromEntries(
      Object.entries(withoutId(node as Schema)).map(([key, value]) => {
        if (key !== '$ref' || typeof value !== 'string')
          return [key, this.#relocate(value, definitions, suffix)];
        const name = value.replace('#/$defs/', '');
        return [key, `#/components/schemas/${this.#name(name, definitions[name] ?? {}, suffix)}`];
      }),
    );
  }
}

const withoutId = (schema: Schema): Schema =>
  Object.fromEntries(Object.entries(schema).filter(([key]) => key !== 'id'));

const parameters = (route: RouteShape, components: Components): Schema[] =>
  (['params', 'query'] as const).flatMap((place) => {
    const shape = route[place]?.shape ?? {};
    return Object.entries(shape).map(([name, schema]) => {
      const json = components.of(schema as z.ZodType, 'input');
      const isRequired = place === 'params' || !(schema as z.ZodType).safeParse(undefined).success;
      return { name, in: place === 'params' ? 'path' : 'query', required: isRequired, schema: json };
    });
  });

const contentTypes = {
  json: 'application/json',
  late: 'application/json',
  sse: 'text/event-stream',
  html: 'text/html',
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
  if (route.body || route.params || route.query) codes.add('invalid');
  if (route.body)
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
  ...(route.params || route.query ? { parameters: parameters(route, components) } : {}),
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
export const openapiDocument = (routes: Routes, version: string): Schema => {
  const components = new Components();
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
    info: { title: 'svc deployment API', version, license: { name: 'MIT', identifier: 'MIT' } },
    paths,
    components: { schemas },
  };
};
