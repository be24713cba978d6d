// Expressions of PromQL: what they read.
import { parser } from '@prometheus-io/lezer-promql';

export interface Reads {
  metrics: Set<string>;
  /** Labels that are selected or grouped by. */
  labels: Set<string>;
}

/** Throws for an expression with a syntax error. */
export const readsOf = (expression: string): Reads => {
  const reads: Reads = { metrics: new Set(), labels: new Set() };
  parser.parse(expression).iterate({
    enter(node) {
      const text = expression.slice(node.from, node.to);
      if (node.type.isError) throw new Error(`syntax error at ${node.from} of ${expression}`);
      if (node.name === 'Identifier' && node.node.parent?.name === 'VectorSelector') reads.metrics.add(text);
      if (node.name === 'LabelName') reads.labels.add(text);
    },
  });
  return reads;
};
