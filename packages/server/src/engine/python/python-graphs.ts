// The Python graphs of an executor, in one Python process.
import { Problem } from '@svc/contract/problem';
import { messageOf } from '../codec/bounded-text.ts';
import type { LoadReport } from '../dispatch/protocol.ts';
import type { OtherLoop } from '../executor/event-loop-monitor.ts';
import { PythonGraph } from './python-graph.ts';
import { type GraphLayout, PythonHost, type PythonHostOptions } from './python-host.ts';

interface Loaded {
  layouts: Record<string, GraphLayout | null>;
  failures: LoadReport['failures'];
  notices: string[];
}

/** A process, and the graphs that it has loaded. */
interface Start {
  host: PythonHost;
  loaded: Promise<Loaded>;
}

export class PythonGraphs {
  readonly #options: PythonHostOptions;
  readonly #ids: readonly string[];
  #start: Start;
  /** The load of the event loop that executes the runs. */
  readonly loop: OtherLoop = { sample: () => this.#start.host.loop.sample() };

  constructor(options: PythonHostOptions) {
    this.#options = options;
    this.#ids = Object.keys(options.sources);
    this.#start = this.#begin();
  }

  /** The graph for one use. Throws a Problem that names the file when it cannot be loaded. */
  async get(graph_id: string): Promise<PythonGraph> {
    const { host, layouts, failures } = await this.#load(graph_id);
    const failed = failures.find((one) => one.graph_id === graph_id);
    if (failed) throw new Problem('invalid', failed.message);
    return new PythonGraph(host, graph_id, { layout: layouts[graph_id] ?? undefined });
  }

  async loadAll(): Promise<LoadReport> {
    try {
      const { failures, notices } = await this.#start.loaded;
      return { failures, notices };
    } catch (error) {
      return {
        failures: this.#ids.map((graph_id) => ({ graph_id, message: this.#explain(graph_id, error) })),
        notices: [],
      };
    }
  }

  #begin(): Start {
    const host = new PythonHost(this.#options);
    const loaded = host.load().then(({ header }) => header as object as Loaded);
    loaded.catch(() => undefined); // the callers report it
    return { host, loaded };
  }

  /** A process that could not start is started again: its environment may have been completed since. */
  async #load(graph_id: string): Promise<Loaded & { host: PythonHost }> {
    const last = this.#start;
    const hasFailed = await last.loaded.then(
      () => false,
      () => true,
    );
    if (hasFailed && this.#start === last) this.#start = this.#begin();
    const { host, loaded } = this.#start;
    try {
      return { host, ...(await loaded) };
    } catch (cause) {
      throw new Problem('invalid', this.#explain(graph_id, cause), { cause });
    }
  }

  #explain(graph_id: string, error: unknown): string {
    const { interpreter } = this.#options.python;
    return `Graph "${graph_id}" cannot be loaded: ${messageOf(error)}. It is tried again with the next run; ${interpreter} must be able to start`;
  }
}
