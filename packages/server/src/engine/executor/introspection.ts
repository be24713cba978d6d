// Describes a graph without executing it: its drawing and its schemas.
import { messagesStateReducer } from '@langchain/langgraph';
import {
  getConfigTypeSchema,
  getInputTypeSchema,
  getOutputTypeSchema,
  getStateTypeSchema,
} from '@langchain/langgraph/zod/schema';
import type { IntrospectCommand } from '../dispatch/protocol.ts';
import type { Graph } from './graph-registry.ts';

type Schema = Record<string, unknown> | null;

/** For a graph that is one function, the library uses numbers as node ids; clients expect texts. */
interface Drawing {
  nodes: { id: string | number }[];
  edges: { source: string | number; target: string | number }[];
}

/** Throws only when the graph itself fails; a schema that cannot be derived is null. */
export const introspect = async (graph: Graph, command: IntrospectCommand): Promise<unknown> => {
  switch (command.what) {
    case 'graph':
      return drawing(graph, command);
    case 'schemas':
      return { graph_id: command.graph_id, ...schemas(graph) };
    case 'subgraphs':
      return subgraphs(graph, command);
  }
};

const drawing = async (graph: Graph, { config, xray = false }: IntrospectCommand): Promise<unknown> => {
  const drawable = await graph.getGraphAsync({ ...config, xray } as never);
  // Converted through JSON, because nodes contain classes, which cannot be sent between processes.
  const { nodes, edges } = JSON.parse(JSON.stringify(drawable.toJSON())) as Drawing;
  return {
    nodes: nodes.map((node) => ({ ...node, id: String(node.id) })),
    edges: edges.map((edge) => ({ ...edge, source: String(edge.source), target: String(edge.target) })),
  };
};

const schemas = (graph: Graph) => {
  const config = derive(() => getConfigTypeSchema(graph));
  return {
    input_schema: derive(() => getInputTypeSchema(graph)) ?? channelSchema(graph, inputKeys(graph)),
    output_schema: derive(() => getOutputTypeSchema(graph)) ?? channelSchema(graph, graph.outputChannels),
    state_schema: derive(() => getStateTypeSchema(graph)) ?? channelSchema(graph, graph.streamChannelsAsIs),
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

/** The definitions that a graph was built from. The library publishes no type for them. */
interface Built {
  builder?: { _inputDefinition?: unknown; _schemaDefinitions?: Map<unknown, object> };
}

/** The keys of the input. A compiled graph has one input channel; only its builder has the keys. */
const inputKeys = (graph: Graph): unknown => {
  const { builder } = graph as Built;
  const definition = builder?._schemaDefinitions?.get(builder._inputDefinition);
  return definition ? Object.keys(definition) : graph.streamChannelsAsIs;
};

/** For states without schemas at run time: a schema with the names of their channels. */
const channelSchema = (graph: Graph, keys: unknown): Schema => {
  if (!Array.isArray(keys)) return null;
  const channels = graph.channels as Record<string, unknown>;
  const properties = Object.fromEntries(
    keys.map((key) => [String(key), holdsMessages(String(key), channels[key]) ? messages : {}]),
  );
  return { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties };
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
  graph: Graph,
  { namespace, recurse = false }: IntrospectCommand,
): Promise<unknown> => {
  const found: Record<string, unknown> = {};
  // Always recursive: the library finds deeper subgraphs only by recursion.
  for await (const [name, subgraph] of graph.getSubgraphsAsync(undefined, true)) {
    if (!isRequested(name, namespace, recurse)) continue;
    const { input_schema, output_schema, state_schema, config_schema, context_schema } = schemas(
      subgraph as Graph,
    );
    found[name] = {
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
