// What can be said of a graph without running it: its drawing and its schemas.
import {
  getConfigTypeSchema,
  getInputTypeSchema,
  getOutputTypeSchema,
  getStateTypeSchema,
} from '@langchain/langgraph/zod/schema';
import type { IntrospectOrder } from '../protocol.ts';
import type { Graph } from './graph-registry.ts';

type Schema = Record<string, unknown> | null;

/** Throws only when the graph itself fails; a schema that cannot be derived is null. */
export const introspect = async (graph: Graph, order: IntrospectOrder): Promise<unknown> => {
  switch (order.what) {
    case 'graph':
      return drawing(graph, order);
    case 'schemas':
      return { graph_id: order.graph_id, ...schemas(graph) };
    case 'subgraphs':
      return subgraphs(graph, order);
  }
};

const drawing = async (graph: Graph, { config, xray = false }: IntrospectOrder): Promise<unknown> => {
  const drawable = await graph.getGraphAsync({ ...config, xray } as never);
  // A round trip through JSON: nodes hold classes, which would not travel between processes.
  return JSON.parse(JSON.stringify(drawable.toJSON())) as unknown;
};

const schemas = (graph: Graph) => {
  const state = derive(() => getStateTypeSchema(graph)) ?? channelSchema(graph);
  const config = derive(() => getConfigTypeSchema(graph));
  return {
    input_schema: derive(() => getInputTypeSchema(graph)) ?? state,
    output_schema: derive(() => getOutputTypeSchema(graph)) ?? state,
    state_schema: state,
    config_schema: config,
    context_schema: config,
  };
};

/** Deriving walks the user's own schemas, which may hold what has no JSON Schema: then there is none. */
const derive = (from: () => unknown): Schema => {
  try {
    const schema = from();
    return schema === undefined ? null : (JSON.parse(JSON.stringify(schema)) as Schema);
  } catch {
    return null; // the absence is the answer
  }
};

/** For states without schemas at run time: at least the names of their channels. */
const channelSchema = (graph: Graph): Schema => {
  const keys = graph.streamChannelsAsIs;
  if (!Array.isArray(keys)) return null;
  const properties = Object.fromEntries(keys.map((key) => [String(key), key === 'messages' ? messages : {}]));
  return { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties };
};

const messages = { type: 'array', items: { type: 'object' }, langgraph_type: 'messages' };

/** Both the long and the short names of the schemas: clients read either. */
const subgraphs = async (graph: Graph, { namespace, recurse = false }: IntrospectOrder): Promise<unknown> => {
  const found: Record<string, unknown> = {};
  for await (const [name, subgraph] of graph.getSubgraphsAsync(namespace, recurse)) {
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
