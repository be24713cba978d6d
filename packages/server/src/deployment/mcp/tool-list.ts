// The tools of a caller: one for each assistant that the caller may see.
import type { GraphSchemas } from '@svc/contract';
import { Problem } from '@svc/contract/problem';
import type { Authorizer } from '../../auth/authorization/authorizer.ts';
import type { AccessFilter } from '../../auth/authorization/access-filter.ts';
import { RpcError, rpcCodes } from '../../api/json-rpc.ts';
import type { AssistantRow } from '../../storage/deployment/assistants.ts';
import type { AssistantService } from '../assistants/assistant-service.ts';
import type { IntrospectionService } from '../assistants/introspection-service.ts';
import { assistantIdIn, toolNameOf } from './tool-name.ts';

/** Tools of one page. */
const pageMax = 50;
const cursorMax = 1_000_000;

type JsonSchema = Record<string, unknown>;

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

const isObject = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export class ToolList {
  readonly #assistants: AssistantService;
  readonly #introspection: IntrospectionService;

  constructor(assistants: AssistantService, introspection: IntrospectionService) {
    this.#assistants = assistants;
    this.#introspection = introspection;
  }

  /** `cursor`: the `nextCursor` of the page before. */
  async page(authorizer: Authorizer, cursor: string | undefined): Promise<ToolPage> {
    const { value, filter } = await authorizer.authorize('assistants:search', {
      graph_id: undefined,
      metadata: undefined,
      limit: pageMax,
      offset: offsetOf(cursor),
    });
    const order = { sort_by: 'created_at', sort_order: 'asc' } as const;
    const page = { limit: value.limit, offset: value.offset, ...order };
    const asked = { graph_id: value.graph_id, metadata: value.metadata };
    const found = await this.#assistants.search(asked, page, filter);
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

  /** True when the graph's input is an object, which the arguments then are. Otherwise they have the input as `input`. */
  async takesObject(assistant: AssistantRow): Promise<boolean> {
    const schema = await this.#inputSchema(assistant);
    return schema?.['type'] === undefined || schema['type'] === 'object';
  }

  async #tool(assistant: AssistantRow): Promise<Tool> {
    const { name, graph_id, description } = assistant;
    const schema = await this.#inputSchema(assistant);
    const inputSchema = (await this.takesObject(assistant))
      ? { ...schema, type: 'object' }
      : { type: 'object', properties: { input: schema }, required: ['input'] };
    return {
      name: toolNameOf(assistant),
      title: name,
      description: description ?? `Runs the agent ${name} (graph ${graph_id}).`,
      inputSchema,
    };
  }

  /** Undefined when the graph has no schema or cannot be loaded: a call of the tool reports why. */
  async #inputSchema(assistant: AssistantRow): Promise<JsonSchema | undefined> {
    try {
      const { input_schema } = (await this.#introspection.ask(assistant, {
        what: 'schemas',
      })) as GraphSchemas;
      return isObject(input_schema) ? input_schema : undefined;
    } catch (error) {
      if (error instanceof Problem && error.code === 'invalid') return undefined;
      throw error;
    }
  }
}

const offsetOf = (cursor: string | undefined): number => {
  const offset = cursor === undefined ? 0 : /^\d{1,7}$/.test(cursor) ? Number(cursor) : Number.NaN;
  if (offset <= cursorMax) return offset;
  throw new RpcError(rpcCodes.invalidParams, 'params.cursor is not a cursor of this server');
};
