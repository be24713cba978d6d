// The graph of an assistant, as the server draws it.
export interface GraphNode {
  id: string;
  label: string;
  kind: 'start' | 'end' | 'node';
  /** Names of the tools that the node can call. */
  tools: string[];
}

export interface GraphEdge {
  source: string;
  target: string;
  isConditional: boolean;
  label: string | undefined;
}

export interface Graph {
  nodes: GraphNode[];
  edges: GraphEdge[];
}

type Fields = Record<string, unknown>;

const kindOf = (id: string): GraphNode['kind'] =>
  id === '__start__' ? 'start' : id === '__end__' ? 'end' : 'node';

const labelOf = (id: string): string => (id === '__start__' ? 'start' : id === '__end__' ? 'end' : id);

export const readGraph = ({ nodes, edges }: { nodes: Fields[]; edges: Fields[] }): Graph => ({
  nodes: nodes.map(({ id, metadata }) => {
    const tools = (metadata as Fields | undefined)?.['__tools'];
    const name = String(id);
    return {
      id: name,
      label: labelOf(name),
      kind: kindOf(name),
      tools: Array.isArray(tools) ? tools.map(String) : [],
    };
  }),
  edges: edges.map(({ source, target, conditional, data }) => ({
    source: String(source),
    target: String(target),
    isConditional: conditional === true,
    label: typeof data === 'string' && data !== '' ? data : undefined,
  })),
});

/** Sizes are computed, not measured: a layout needs them before anything is drawn. */
export const sizeOf = ({ label, kind, tools }: GraphNode): { width: number; height: number } => {
  if (kind !== 'node') return { width: 64, height: 28 };
  const chars = Math.max(label.length + 2, tools.join(', ').length * 0.85);
  return { width: Math.min(240, Math.max(120, 36 + chars * 7.5)), height: tools.length > 0 ? 56 : 40 };
};
