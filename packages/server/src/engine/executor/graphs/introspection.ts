// Describes a graph without executing it: its drawing and its schemas.
import { messagesStateReducer } from '@langchain/langgraph';
import {
  getConfigTypeSchema,
  getInputTypeSchema,
  getOutputTypeSchema,
  getStateTypeSchema,
} from '@langchain/langgraph/zod/schema';
import { schemaMetaRegistry } from '@langchain/langgraph/zod';
import type { IntrospectCommand } from '../../dispatch/protocol.ts';
import type { EngineGraph } from './graph-registry.ts';

type Schema = Record<string, unknown> | null;

/** For a graph that is one function, the library uses numbers as node ids; clients expect texts. */
interface Drawing {
  nodes: { id: string | number }[];
  edges: { source: string | number; target: string | number }[];
}

/** Throws only when the graph itself fails; a schema that cannot be derived is null. */
export const introspect = async (graph: EngineGraph, command: IntrospectCommand): Promise<unknown> => {
  switch (command.what) {
    case 'graph':
      return drawing(graph, command);
    case 'schemas':
      return { graph_id: command.graph_id, ...schemas(graph) };
    case 'subgraphs':
      return subgraphs(graph, command);
  }
};

const drawing = async (graph: EngineGraph, { config, xray = false }: IntrospectCommand): Promise<unknown> => {
  const drawable = await graph.getGraphAsync({ ...config, xray } as never);
  // Converted through JSON, because nodes contain classes, which cannot be sent between processes.
  const { nodes, edges } = JSON.parse(JSON.stringify(drawable.toJSON())) as Drawing;
  return {
    nodes: nodes.map((node) => ({ ...node, id: String(node.id) })),
    edges: edges.map((edge) => ({ ...edge, source: String(edge.source), target: String(edge.target) })),
  };
};

const schemas = (graph: EngineGraph) => {
  const { builder = {} } = graph as Built;
  const state = builder._schemaRuntimeDefinition;
  // Without a zod object of their own, the input and the output have that of the state; the library marks that by a symbol.
  const own = (definition: unknown): unknown => (typeof definition === 'object' ? definition : state);
  const input = deriveSchema(graph, getInputTypeSchema, own(builder._inputRuntimeDefinition));
  const output = deriveSchema(graph, getOutputTypeSchema, own(builder._outputRuntimeDefinition));
  // The library keeps no configuration that is not a zod object.
  const config = deriveSchema(graph, getConfigTypeSchema, builder._configRuntimeSchema);
  return {
    input_schema: input ?? channelSchema(graph, inputKeys(graph), () => ({})),
    output_schema: output ?? channelSchema(graph, graph.outputChannels, typeOfDefault),
    state_schema:
      deriveSchema(graph, getStateTypeSchema, state) ??
      channelSchema(graph, graph.streamChannelsAsIs, typeOfDefault),
    config_schema: config,
    context_schema: config,
  };
};

/** Null when the user's schema contains types that have no JSON Schema. */
const derive = (from: () => unknown): Schema => {
  try {
    const schema = from();
    return schema === undefined ? null : (JSON.parse(JSON.stringify(schema)) as Schema);
  } catch {
    return null; // such a type
  }
};

type Deriving = (graph: unknown) => unknown;

/** The schema of a zod object. If one of its members has no JSON Schema, the members are derived one by one. */
const deriveSchema = (graph: EngineGraph, from: Deriving, definition: unknown): Schema =>
  derive(() => from(graph)) ?? (isZodObject(definition) ? memberSchemas(from, definition) : null);

interface ZodObject {
  shape: Record<string, object>;
  pick(keys: Record<string, true>): object;
}

const isZodObject = (value: unknown): value is ZodObject =>
  typeof value === 'object' &&
  value !== null &&
  'pick' in value &&
  'shape' in value &&
  typeof value.shape === 'object';

const memberSchemas = (from: Deriving, definition: ZodObject): Schema => {
  const members = Object.entries(definition.shape).map(([key, member]) => {
    const derived = derive(() => {
      const picked = definition.pick({ [key]: true });
      const builder = {
        _schemaRuntimeDefinition: picked,
        _inputRuntimeDefinition: picked,
        _outputRuntimeDefinition: picked,
        _configRuntimeSchema: picked,
      };
      return (from({ builder }) as { properties: Record<string, unknown> }).properties[key];
    });
    // What the project itself says of the member, such as that it holds messages.
    return [key, derived ?? schemaMetaRegistry.get(member as never)?.jsonSchemaExtra ?? {}] as const;
  });
  const properties = Object.fromEntries(members);
  return { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties };
};

/** The definitions that a graph was built from. The library publishes no type for them. */
interface Built {
  builder?: {
    _inputDefinition?: unknown;
    _schemaDefinitions?: Map<unknown, object>;
    _schemaRuntimeDefinition?: unknown;
    _inputRuntimeDefinition?: unknown;
    _outputRuntimeDefinition?: unknown;
    _configRuntimeSchema?: unknown;
  };
}

/** The keys of the input. A compiled graph has one input channel; only its builder has the keys. */
const inputKeys = (graph: EngineGraph): unknown => {
  const { builder } = graph as Built;
  const definition = builder?._schemaDefinitions?.get(builder._inputDefinition);
  return definition ? Object.keys(definition) : graph.streamChannelsAsIs;
};

/** For states without schemas at run time: a schema with the names of their channels. */
const channelSchema = (graph: EngineGraph, keys: unknown, typeOf: (channel: unknown) => object): Schema => {
  if (!Array.isArray(keys)) return null;
  const channels = graph.channels as Record<string, unknown>;
  const properties = Object.fromEntries(
    keys.map((key) => [
      String(key),
      holdsMessages(String(key), channels[key]) ? messages : typeOf(channels[key]),
    ]),
  );
  return { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties };
};

/**
 * A channel with a reducer holds values of the type of its default. What it accepts as input may be of another type, such as one
 * item of a list.
 */
const typeOfDefault = (channel: unknown): object => {
  const { operator, value } = (channel ?? {}) as { operator?: unknown; value?: unknown };
  if (operator === undefined || value === undefined || value === null) return {};
  if (Array.isArray(value)) return { type: 'array' };
  const isPlain = typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype;
  return isPlain || ['string', 'number', 'boolean'].includes(typeof value) ? { type: typeof value } : {};
};

const messages = { type: 'array', items: { type: 'object' }, langgraph_type: 'messages' };

/** Decides by the reducer; or by the name, if the channel reduces a list: many graphs use a reducer of their own for messages. */
const holdsMessages = (name: string, channel: unknown): boolean => {
  const { operator, value } = (channel ?? {}) as { operator?: unknown; value?: unknown };
  if (operator === messagesStateReducer) return true;
  return name === 'messages' && operator !== undefined && Array.isArray(value);
};

/**
 * With a namespace, the graph of that namespace; otherwise the direct subgraphs. With `recurse`, the subgraphs below too.
 */
const isRequested = (name: string, namespace: string | undefined, recurse: boolean): boolean => {
  if (namespace === undefined) return recurse || !name.includes('|');
  return name === namespace || (recurse && name.startsWith(`${namespace}|`));
};

/** Contains the schemas under their long and their short names, because clients read either. */
const subgraphs = async (
  graph: EngineGraph,
  { graph_id, namespace, recurse = false }: IntrospectCommand,
): Promise<unknown> => {
  const found: Record<string, unknown> = {};
  // Always recursive: the library finds deeper subgraphs only by recursion.
  for await (const [name, subgraph] of graph.getSubgraphsAsync(undefined, true)) {
    if (!isRequested(name, namespace, recurse)) continue;
    const { input_schema, output_schema, state_schema, config_schema, context_schema } = schemas(
      subgraph as EngineGraph,
    );
    found[name] = {
      graph_id,
      input_schema,
      output_schema,
      state_schema,
      config_schema,
      context_schema,
      input: input_schema,
      output: output_schema,
      state: state_schema,
      config: config_schema,
    };
  }
  return found;
};
