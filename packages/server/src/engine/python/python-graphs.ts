// The Python graphs of an executor, in one Python process.
import { Problem } from '@svc/contract/problem';
import { messageOf } from '../codec/bounded-text.ts';
import type { LoadReport } from '../dispatch/protocol.ts';
import { PythonGraph } from './python-graph.ts';
import { type GraphLayout, PythonHost, type PythonHostOptions } from './python-host.ts';
import type { PythonLoop } from './python-loop.ts';

interface Loaded {
  layouts: Record<string, GraphLayout | null>;
  failures: LoadReport['failures'];
  notices: string[];
}

export class PythonGraphs {
  readonly #host: PythonHost;
  readonly #ids: readonly string[];
  readonly #loaded: Promise<Loaded>;

  constructor(options: PythonHostOptions) {
    this.#ids = Object.keys(options.sources);
    this.#host = new PythonHost(options);
    this.#loaded = this.#host.load().then(({ header }) => header as object as Loaded);
    this.#loaded.catch(() => undefined); // the callers report it
  }

  /** The load of the event loop that executes the runs. */
  get loop(): PythonLoop {
    return this.#host.loop;
  }

  /** The graph for one use. Throws a Problem that names the file when it cannot be loaded. */
  async get(graph_id: string): Promise<PythonGraph> {
    const { layouts, failures } = await this.#load(graph_id);
    const failed = failures.find((one) => one.graph_id === graph_id);
    if (failed) throw new Problem('invalid', failed.message);
    return new PythonGraph(this.#host, graph_id, { layout: layouts[graph_id] ?? undefined });
  }

  async loadAll(): Promise<LoadReport> {
    try {
      const { failures, notices } = await this.#loaded;
      return { failures, notices };
    } catch (error) {
      const message = messageOf(error);
      return {
        failures: this.#ids.map((graph_id) => ({ graph_id, message })),
        notices: [],
      };
    }
  }

  async #load(graph_id: string): Promise<Loaded> {
    try {
      return await this.#loaded;
    } catch (error) {
      throw new Problem('invalid', `Graph "${graph_id}" cannot be loaded: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }
}
