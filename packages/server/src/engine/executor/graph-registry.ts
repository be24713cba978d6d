// The project's graphs, loaded when an executor starts or on first use. An export may be a compiled graph, a builder, or
// a factory of either. A factory is called for every use, with the config of that use.
import { Problem } from '@svc/contract/problem';
import type { Pregel } from '@langchain/langgraph/pregel';
import { importProjectModule } from './project-module.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- a user's graph has channels and nodes of any type
export type Graph = Pregel<any, any>;

export interface GraphSource {
  /** Absolute path of the module. */
  file: string;
  export: string;
}

/** Why a graph is loaded. A factory gets it as its second argument. */
export type AccessContext = 'threads.create_run' | 'threads.update' | 'threads.read' | 'assistants.read';

type Factory = (config: object, runtime: { accessContext: AccessContext }) => unknown;

const isGraph = (value: unknown): value is Graph =>
  typeof value === 'object' && value !== null && 'lg_is_pregel' in value && value.lg_is_pregel === true;

const isBuilder = (value: unknown): value is { compile(): Graph } =>
  typeof value === 'object' && value !== null && 'compile' in value && typeof value.compile === 'function';

/** A copy of the graph without its own checkpointer, because svc stores the threads. Never changes the shared object. */
const withoutCheckpointer = (graph: Graph): Graph => {
  if (typeof graph.checkpointer !== 'object') return graph;
  const { checkpointer: _, ...rest } = graph;
  const Copy = graph.constructor as new (fields: object) => Graph;
  return new Copy(rest);
};

export class GraphRegistry {
  readonly #sources: ReadonlyMap<string, GraphSource>;
  readonly #onImport: (cause: unknown) => void;
  readonly #loaded = new Map<string, Promise<Graph | Factory>>();

  /** `onImport` is called after every import of a module, with its error if it failed. */
  constructor(
    sources: ReadonlyMap<string, GraphSource>,
    onImport: (error?: unknown) => void = () => undefined,
  ) {
    this.#sources = sources;
    this.#onImport = onImport;
  }

  /** The graph for one use. Throws a Problem that names the file when it cannot be loaded. */
  async get(graph_id: string, config: object, accessContext: AccessContext): Promise<Graph> {
    const source = this.#sources.get(graph_id);
    if (!source)
      throw new Problem('not_found', `Graph ${JSON.stringify(graph_id)} is not in the configuration`);
    const exported = await this.#load(graph_id, source);
    if (typeof exported !== 'function') return exported;
    return toGraph(graph_id, source, await exported(config, { accessContext }));
  }

  /** Loads the modules of all graphs. An error is reported when the graph is used. */
  async loadAll(): Promise<void> {
    await Promise.allSettled([...this.#sources].map(([graph_id, source]) => this.#load(graph_id, source)));
  }

  #load(graph_id: string, source: GraphSource): Promise<Graph | Factory> {
    let loading = this.#loaded.get(graph_id);
    if (!loading) {
      loading = load(graph_id, source, this.#onImport);
      this.#loaded.set(graph_id, loading);
    }
    return loading;
  }
}

const load = async (
  graph_id: string,
  source: GraphSource,
  onImport: (error?: unknown) => void,
): Promise<Graph | Factory> => {
  let module: Record<string, unknown>;
  try {
    module = await importProjectModule(source.file);
  } catch (cause) {
    onImport(cause);
    throw new Problem(
      'invalid',
      `Graph "${graph_id}" cannot be loaded: ${source.file}: ${(cause as Error).message}`,
      { cause },
    );
  }
  onImport();
  // A CommonJS module may keep its exports under `default`.
  const nested = module['default'] as Record<string, unknown> | undefined;
  const exported = await (module[source.export] ?? nested?.[source.export]);
  if (exported === undefined) {
    const names = Object.keys(module).join(', ') || 'nothing';
    throw new Problem(
      'invalid',
      `Graph "${graph_id}": ${source.file} does not export ${source.export}; it exports ${names}`,
    );
  }
  return typeof exported === 'function' && !isGraph(exported)
    ? (exported as Factory)
    : toGraph(graph_id, source, exported);
};

const toGraph = (graph_id: string, source: GraphSource, value: unknown): Graph => {
  if (isGraph(value)) return withoutCheckpointer(value);
  if (isBuilder(value)) return value.compile();
  throw new Problem(
    'invalid',
    `Graph "${graph_id}": ${source.export} in ${source.file} is neither a compiled graph nor a builder nor a factory of one`,
  );
};
