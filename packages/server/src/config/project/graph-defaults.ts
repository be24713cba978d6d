// LANGGRAPH_CONFIG: what the default assistants of graphs are created with.
import * as z from 'zod';
import { type Mistake, nearest } from './mistake.ts';

export interface GraphDefaults {
  readonly config: Readonly<Record<string, unknown>>;
  readonly context: Readonly<Record<string, unknown>>;
}

const variable = 'LANGGRAPH_CONFIG';
const Defaults = z.record(
  z.string(),
  z.looseObject({ context: z.record(z.string(), z.unknown()).optional() }),
);

/** By graph id. The variable is JSON: `{"agent": {"configurable": {"model": "x"}, "context": {…}}}`. */
export function readGraphDefaults(
  text: string | undefined,
  { graphs, mistakes }: { graphs: Iterable<string>; mistakes: Mistake[] },
): ReadonlyMap<string, GraphDefaults> {
  const defaults = new Map<string, GraphDefaults>();
  if (text === undefined || text === '') return defaults;
  const remedy = 'Write {"agent": {"configurable": {…}, "context": {…}}}.';
  let parsed: z.infer<typeof Defaults>;
  try {
    parsed = Defaults.parse(JSON.parse(text));
  } catch (error) {
    const problem = error instanceof z.ZodError ? 'is not a map from graph ids to objects' : 'is not JSON';
    mistakes.push({ where: variable, problem, remedy });
    return defaults;
  }
  const known = new Set(graphs);
  for (const [graph_id, { context = {}, ...config }] of Object.entries(parsed)) {
    if (known.has(graph_id)) defaults.set(graph_id, { config, context });
    else {
      const near = nearest(graph_id, known);
      const problem = `there is no graph "${graph_id}"${near === undefined ? '' : `; did you mean "${near}"?`}`;
      mistakes.push({ where: variable, problem, remedy: 'Name a graph of the config file.' });
    }
  }
  return defaults;
}
