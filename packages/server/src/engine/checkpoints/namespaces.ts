// Namespaces of checkpoints: empty for the root, `outer:<task>|inner:<task>` for a subgraph, with a number after parallel calls in one task.

/** The names of the subgraphs on the way to a namespace, as the engine lists subgraphs: `outer|inner`. */
export const subgraphPath = (checkpoint_ns: string): string =>
  checkpoint_ns
    .split('|')
    .filter((part) => !/^\d+$/.test(part))
    .map((part) => part.split(':')[0])
    .join('|');

/**
 * Where a subgraph with a memory of its own (`checkpointer: true`) has its checkpoints: the same namespace for every task. Undefined when the
 * namespace names no task.
 */
export const memoryNamespace = (checkpoint_ns: string): string | undefined =>
  checkpoint_ns.includes(':')
    ? checkpoint_ns
        .split('|')
        .map((part) => part.split(':')[0])
        .join('|')
    : undefined;
