/** A copy of a compiled graph with this checkpointer, made as the engine itself copies a graph (withConfig). */
export const withCheckpointer = <T>(graph: object, checkpointer: object): T => {
  const Copy = graph.constructor as new (fields: object) => T;
  return new Copy({ ...graph, checkpointer });
};
