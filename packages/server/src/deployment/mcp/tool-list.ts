// The tools of a caller: one for each assistant that the caller may see.
import { Problem } from '@svc/contract/problem';
import type { Authorizer } from '../../auth/authorization/authorizer.ts';
import type { AccessFilter } from '../../auth/authorization/access-filter.ts';
import { rpcCodes, RpcError } from '../../api/json-rpc.ts';
import type { AssistantRow } from '../../storage/deployment/assistants/assistant-rows.ts';
import type { AssistantService } from '../assistants/assistant-service.ts';
import { assistantIdOf } from '../assistants/default-assistant.ts';
import { findSchemas } from '../assistants/graph-schemas.ts';
import type { IntrospectionService } from '../assistants/introspection-service.ts';
import type { GraphSchemas } from '@svc/contract';
import { isRecord } from '../../json/is-record.ts';

/** Tools of one page. */
const pageMax = 50;
const cursorMax = 1_000_000;

interface Tool {
  name: string;
  title: string;
  description: string;
  inputSchema: JsonSchema;
}

export interface ToolPage {
  tools: Tool[];
  nextCursor?: string;
}

export class ToolList {
  readonly #assistants: AssistantService;
  readonly #introspection: IntrospectionService;

  constructor(assistants: AssistantService, introspection: IntrospectionService) {
    this.#assistants = assistants;
    this.#introspection = introspection;
  }

  /** `cursor`: the `nextCursor` of the page before. */
  async page(authorizer: Authorizer, cursor: string | undefined): Promise<ToolPage> {
    const { value, access } = await authorizer.authorize('assistants:search', {
      graph_id: undefined,
      metadata: undefined,
      limit: pageMax,
      offset: offsetOf(cursor),
    });
    const order = { sort_by: 'created_at', sort_order: 'asc' } as const;
    const page = { limit: value.limit, offset: value.offset, ...order };
    const requested = { graph_id: value.graph_id, metadata: value.metadata };
    const found = await this.#assistants.search(requested, page, access);
    const rows = found.page.rows.map((text) => JSON.parse(text) as AssistantRow);
    const next = page.offset + rows.length;
    const tools = await Promise.all(rows.map((row) => this.#tool(row)));
    return rows.length > 0 && next < found.total ? { tools, nextCursor: String(next) } : { tools };
  }

  /** The assistant of a tool. Throws RpcError when the caller sees no such tool. */
  async find(toolName: string, access: AccessFilter): Promise<AssistantRow> {
    const id = assistantIdIn(toolName);
    const unknown = new RpcError(rpcCodes.invalidParams, `Unknown tool: ${toolName.slice(0, 100)}`);
    if (id === undefined) throw unknown;
    try {
      return await this.#assistants.get(id, access);
    } catch (error) {
      throw error instanceof Problem && error.code === 'not_found' ? unknown : error;
    }
  }

  /** The arguments of the assistant's tool. */
  async arguments(assistant: AssistantRow): Promise<ToolArguments> {
    return toolArguments(await findSchemas(this.#introspection, assistant));
  }

  async #tool(assistant: AssistantRow): Promise<Tool> {
    const { name, graph_id, description } = assistant;
    const { schema: inputSchema } = await this.arguments(assistant);
    return {
      name: toolNameOf(assistant),
      title: name,
      description: description ?? `Runs the agent ${name} (graph ${graph_id}).`,
      inputSchema,
    };
  }
}

const offsetOf = (cursor: string | undefined): number => {
  const offset = cursor === undefined ? 0 : /^\d{1,7}$/.test(cursor) ? Number(cursor) : Number.NaN;
  if (offset <= cursorMax) return offset;
  throw new RpcError(rpcCodes.invalidParams, 'params.cursor is not a cursor of this server');
};

interface Named {
  assistant_id: string;
  graph_id: string;
  name: string;
}

/** Model APIs accept at most 64 letters, digits, underscores and hyphens. */
const charsMax = 64;
const legal = /^[\w-]{1,64}$/;
const withId = /^(?:[\w-]*-)?([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/;

/**
 * The id of the graph for its default assistant; for other assistants the name and the id: `support-0b1c…`. A name contains everything that is
 * needed to find its assistant.
 */
export const toolNameOf = ({ assistant_id, graph_id, name }: Named): string => {
  const isDefault = assistantIdOf(graph_id) === assistant_id;
  if (isDefault && legal.test(graph_id) && !withId.test(graph_id)) return graph_id;
  const id = assistant_id.replaceAll('-', '');
  const readable = name.replaceAll(/[^\w]+/g, '_').slice(0, charsMax - id.length - 1);
  return `${readable}-${id}`;
};

/** The id of the assistant of a tool; undefined when no tool can have this name. */
export const assistantIdIn = (toolName: string): string | undefined => {
  if (!legal.test(toolName)) return undefined;
  const id = withId.exec(toolName)?.slice(1).join('-');
  return id ?? assistantIdOf(toolName);
};

// The arguments of a tool: the input of its graph, and the context of the run if the graph has a schema for it.

export type JsonSchema = Record<string, unknown>;

interface ToolRun {
  input: unknown;
  /** Undefined when the caller gives none: the run then has the context of the assistant. */
  context: unknown;
}

export interface ToolArguments {
  /** The JSON Schema of the arguments. */
  schema: JsonSchema;
  /** Throws RpcError. */
  read: (given: Record<string, unknown>) => ToolRun;
}

/** The argument for the context. If the input has a member of this name, the argument is part of the input, and the context cannot be set. */
const contextName = 'context';

/** `schemas`: undefined when the graph cannot be loaded. */
export const toolArguments = (schemas: GraphSchemas | undefined): ToolArguments => {
  const input = isRecord(schemas?.input_schema) ? schemas.input_schema : undefined;
  const context = isRecord(schemas?.context_schema) ? schemas.context_schema : undefined;
  const isObject = isObjectSchema(input);
  const base: JsonSchema = isObject
    ? { ...input, type: 'object' }
    : { type: 'object', properties: { input }, required: ['input'] };
  const properties = isRecord(base['properties']) ? base['properties'] : {};
  const takesContext = context !== undefined && !Object.hasOwn(properties, contextName);
  const schema = takesContext
    ? { ...base, properties: { ...properties, [contextName]: optional(context) } }
    : base;
  return { schema, read: (given) => readRun(given, isObject, takesContext) };
};

const isObjectSchema = (schema: JsonSchema | undefined): boolean =>
  schema?.['type'] === undefined || schema['type'] === 'object';

const description = 'The context of the run';

/**
 * Removes `required`, because the context of the assistant may have these members: the argument is merged into it. A schema with references
 * is replaced, because they would not resolve inside another schema.
 */
const optional = (context: JsonSchema): JsonSchema => {
  if (JSON.stringify(context).includes('"$ref":')) return { type: 'object', description };
  const { required: _required, $schema: _dialect, ...members } = context;
  return { description, ...members };
};

const readRun = (given: Record<string, unknown>, isObject: boolean, takesContext: boolean): ToolRun => {
  if (!takesContext) return { input: isObject ? given : given['input'], context: undefined };
  const { [contextName]: context, ...input } = given;
  if (context !== undefined && !isRecord(context))
    throw new RpcError(rpcCodes.invalidParams, `params.arguments.${contextName}: must be an object`);
  return { input: isObject ? input : given['input'], context };
};
