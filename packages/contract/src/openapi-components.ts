// Schemas of the OpenAPI document that several operations share.
import * as z from 'zod';
import { problems } from './problem.ts';
import type { Routes } from './route.ts';

export type Schema = Record<string, unknown>;

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

const RpcError = {
  type: 'object',
  required: ['jsonrpc', 'id', 'error'],
  properties: {
    jsonrpc: { const: '2.0' },
    id: { type: ['string', 'number', 'null'] },
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: { code: { type: 'integer' }, message: { type: 'string' }, data: {} },
    },
  },
  description: 'A JSON-RPC 2.0 response with an error',
};

const ServerSentEvent = {
  type: 'object',
  properties: { id: { type: 'string' }, event: { type: 'string' }, data: { type: 'string' } },
  description: 'Each event of a stream; most have JSON in `data`',
};

const refPrefix = '#/components/schemas/';

/**
 * Schemas with an id become components; all others are written where they are used. A schema whose input and output differ (by its
 * defaults) becomes two components; that of the input is named `…Input`.
 */
export class Components {
  readonly schemas: Record<string, Schema> = { Problem, RpcError, ServerSentEvent };
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

  /** The schema of an object or of a list of objects, or of a page of them, of which the request may have selected some fields. */
  selection(schema: Schema): Schema {
    const { items, properties, $ref } = schema as {
      items?: Schema;
      properties?: Record<string, Schema>;
      $ref?: string;
    };
    if (items !== undefined) return { ...schema, items: this.selection(items) };
    if (properties !== undefined) {
      const lists = Object.entries(properties).map(([key, property]) => [
        key,
        'items' in property ? this.selection(property) : property,
      ]);
      return { ...schema, properties: Object.fromEntries(lists) as Record<string, Schema> };
    }
    if ($ref === undefined) return schema;
    const name = $ref.slice(refPrefix.length);
    const { required, ...whole } = this.schemas[name] ?? {};
    if (required === undefined) return schema;
    this.schemas[`${name}Selection`] = {
      ...whole,
      description: `The fields of ${name} that the request has selected`,
    };
    return { anyOf: [schema, { $ref: `${refPrefix}${name}Selection` }] };
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
      return [key, `${refPrefix}${nameOf(value.replace('#/$defs/', ''))}`];
    }),
  );
};

/** Without the id of the schema; in a list of properties, `id` is a schema and stays. */
const withoutId = (schema: Schema): Schema =>
  Object.fromEntries(
    Object.entries(schema).filter(([key, value]) => key !== 'id' || typeof value !== 'string'),
  );
