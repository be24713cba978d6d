// The project's graphs, loaded when an executor starts or on first use. An export may be a compiled graph, a builder, an agent
// that has its graph under `graph` (createAgent and createDeepAgent of langchain), or a factory of one. A factory is called for
// every use, with the config of that use.
import { Problem } from '@svc/contract/problem';
import type { Pregel } from '@langchain/langgraph/pregel';
import { messageOf } from '../../codec/bounded-text.ts';
import { exportOf } from '../../../config/project/module-export.ts';
import { isPython } from '../../../config/project/python-modules.ts';
import type { LoadReport } from '../../dispatch/protocol.ts';
import type { PythonGraph } from '../../python/python-graph.ts';
import type { PythonGraphs } from '../../python/python-graphs.ts';
import { explainImport, importProjectModule } from './project-module.ts';
import { readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

// oxlint-disable-next-line typescript/no-explicit-any -- a user's graph has channels and nodes of any type
export type EngineGraph = Pregel<any, any>;
export type Graph = EngineGraph | PythonGraph;

export interface GraphSource {
  /** Absolute path of the module. */
  file: string;
  export: string;
}

/** Why a graph is loaded. A factory gets it as its second argument. */
export type AccessContext = 'threads.create_run' | 'threads.update' | 'threads.read' | 'assistants.read';

type Factory = (config: object, runtime: { accessContext: AccessContext }) => unknown;

const isGraph = (value: unknown): value is EngineGraph =>
  typeof value === 'object' && value !== null && 'lg_is_pregel' in value && value.lg_is_pregel === true;

const isBuilder = (value: unknown): value is { compile(): EngineGraph } =>
  typeof value === 'object' && value !== null && 'compile' in value && typeof value.compile === 'function';

/** An agent of langchain is not a graph: it has one. */
const isAgent = (value: unknown): value is { graph: EngineGraph } =>
  typeof value === 'object' && value !== null && 'graph' in value && isGraph(value.graph);

const hasCheckpointer = (graph: EngineGraph): boolean => typeof graph.checkpointer === 'object';
const hasStore = (graph: EngineGraph): boolean => typeof graph.store === 'object';

/** A copy of the graph without its own checkpointer and store, because svc has both. Never changes the shared object. */
const withoutStorage = (graph: EngineGraph): EngineGraph => {
  if (!hasCheckpointer(graph) && !hasStore(graph)) return graph;
  const { checkpointer: _, store: __, ...rest } = graph;
  const checkpointer = hasCheckpointer(graph) ? {} : { checkpointer: graph.checkpointer };
  const Copy = graph.constructor as new (fields: object) => EngineGraph;
  return new Copy({ ...rest, ...checkpointer });
};

export class GraphRegistry {
  readonly #sources: ReadonlyMap<string, GraphSource>;
  readonly #onImport: (cause: unknown) => void;
  readonly #python: PythonGraphs | undefined;
  readonly #loaded = new Map<string, Promise<EngineGraph | Factory>>();
  /** What the operator should know of graphs that are loaded. */
  readonly #notices: Set<string>;

  /**
   * `onImport` is called after every import of a module, with its error if it failed. `python`: the graphs of Python files, if the project
   * has any.
   */
  constructor(
    sources: ReadonlyMap<string, GraphSource>,
    onImport: (error?: unknown) => void = () => undefined,
    { notices = [], python }: { notices?: readonly string[]; python?: PythonGraphs | undefined } = {},
  ) {
    this.#sources = sources;
    this.#onImport = onImport;
    this.#python = python;
    this.#notices = new Set(notices);
  }

  /** The graph for one use. Throws a Problem that names the file when it cannot be loaded. */
  async get(graph_id: string, config: object, accessContext: AccessContext): Promise<Graph> {
    const source = this.#sources.get(graph_id);
    if (!source)
      throw new Problem('not_found', `Graph ${JSON.stringify(graph_id)} is not in the configuration`);
    if (isPython(source.file)) return this.#pythonGraphs.get(graph_id);
    const exported = await this.#load(graph_id, source);
    if (typeof exported !== 'function') return exported;
    return withoutStorage(toGraph(graph_id, source, await exported(config, { accessContext })));
  }

  /** Loads the modules of all graphs. Runs of a graph that cannot be loaded end with its error. */
  async loadAll(): Promise<LoadReport> {
    const failures: LoadReport['failures'] = [];
    const load = async ([graph_id, source]: [string, GraphSource]): Promise<void> => {
      for (const notice of engineDifferences(source.file)) this.#notices.add(notice);
      await this.#load(graph_id, source).catch((error: unknown) =>
        failures.push({ graph_id, message: messageOf(error) }),
      );
    };
    const own = [...this.#sources].filter(([, { file }]) => !isPython(file));
    const [python] = await Promise.all([this.#python?.loadAll(), ...own.map(load)]);
    return {
      failures: [...failures, ...(python?.failures ?? [])],
      notices: [...this.#notices, ...(python?.notices ?? [])],
    };
  }

  /** True for graphs of Python files. */
  isPython(graph_id: string): boolean {
    return this.#python !== undefined && isPython(this.#sources.get(graph_id)?.file ?? '');
  }

  get #pythonGraphs(): PythonGraphs {
    if (!this.#python) throw new Problem('not_supported', 'This executor has no Python interpreter');
    return this.#python;
  }

  #load(graph_id: string, source: GraphSource): Promise<EngineGraph | Factory> {
    let loading = this.#loaded.get(graph_id);
    if (!loading) {
      loading = load(graph_id, source, this.#onImport).then((exported) => {
        if (typeof exported === 'function') return exported;
        if (hasCheckpointer(exported)) this.#notices.add(replaced(graph_id, 'checkpointer'));
        if (hasStore(exported)) this.#notices.add(replaced(graph_id, 'store'));
        return withoutStorage(exported);
      });
      this.#loaded.set(graph_id, loading);
    }
    return loading;
  }
}

const load = async (
  graph_id: string,
  source: GraphSource,
  onImport: (error?: unknown) => void,
): Promise<EngineGraph | Factory> => {
  let module: Record<string, unknown>;
  try {
    module = await importProjectModule(source.file);
  } catch (cause) {
    onImport(cause);
    throw new Problem(
      'invalid',
      `Graph "${graph_id}" cannot be loaded: ${explainImport(source.file, cause)}`,
      { cause },
    );
  }
  onImport();
  const exported = await exportOf(module, source.export);
  if (exported === undefined) {
    const names = Object.keys(module).join(', ') || 'nothing';
    throw new Problem(
      'invalid',
      `Graph "${graph_id}": ${source.file} does not export ${source.export}; it exports ${names}. Name one of them after the colon`,
    );
  }
  return typeof exported === 'function' && !isGraph(exported)
    ? (exported as Factory)
    : toGraph(graph_id, source, exported);
};

const replaced = (graph_id: string, part: string): string =>
  `Graph "${graph_id}" is compiled with a ${part} of its own, which is not used: svc stores threads and items in its database`;

const toGraph = (graph_id: string, source: GraphSource, value: unknown): EngineGraph => {
  if (isGraph(value)) return value;
  if (isAgent(value)) return value.graph;
  if (isBuilder(value)) return value.compile();
  throw new Problem(
    'invalid',
    `Graph "${graph_id}": ${source.export} in ${source.file} is neither a compiled graph nor a builder, an agent or a factory of one`,
  );
};

// Compares the engine's packages of a project with those of the server. Graphs run with the server's.
const packages = ['@langchain/langgraph', '@langchain/core', '@langchain/langgraph-checkpoint'];

/** One sentence for each package that the project has in another version. `file` is a module of the project. */
export const engineDifferences = (file: string): string[] =>
  packages.flatMap((name) => {
    const own = installedFrom(dirname(file), name);
    const used = installedFrom(dirname(fileURLToPath(import.meta.url)), name);
    if (own === undefined || used === undefined || own.version === used.version) return [];
    return [
      `The project has ${name} ${own.version} in ${own.dir}; its graphs run with ${used.version}, the version of the server. ` +
        (majorOf(own.version) < majorOf(used.version)
          ? `Packages of the project that were made for ${own.version}, such as models and agents, fail in runs when they use what ${used.version} no longer has, for example with "this.bind is not a function". ` +
            `Install ${used.version} in the project, and the packages that support it.`
          : `Install ${used.version} in the project, so that both are the same.`),
    ];
  });

const majorOf = (version: string): number => Number.parseInt(version, 10);

const installedFrom = (folder: string, name: string): { dir: string; version: string } | undefined => {
  try {
    const dir = realpathSync(join(folder, 'node_modules', name));
    const { version } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')) as { version: string };
    return { dir, version };
  } catch {
    // Not installed in this folder.
    const parent = dirname(folder);
    return parent === folder ? undefined : installedFrom(parent, name);
  }
};
