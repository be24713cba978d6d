// Graphs that compute: their runs keep the event loop of an executor busy, so that its other runs wait. A report of an executor does not say for
// which run it is busy. So each graph has two counts: how often an executor with a run of it became busy; and how often one with a run of it
// was not busy, or ended a run of it without having been busy for long. Runs that come to a busy executor are not counted.
import type { LoadChange } from './event-loop-load.ts';

interface Seen {
  busy: number;
  idle: number;
}

/** From this number on, what was seen longer ago counts less. */
const seenMax = 100;

export class ComputingGraphs {
  readonly #seen = new Map<string, Seen>();

  /** Whether executors with runs of the graph are busy more often than not. */
  has(graph_id: string): boolean {
    const { busy, idle } = this.#seen.get(graph_id) ?? { busy: 0, idle: 0 };
    return busy > idle;
  }

  /** `running`: the graphs of the executor's runs. */
  note(change: LoadChange, running: Iterable<string>): void {
    if (change === undefined) return;
    for (const graph_id of running) this.#count(graph_id, change === 'became_busy' ? 'busy' : 'idle');
  }

  /** A run of the graph has ended on an executor that was not busy for long. */
  noteEnd(graph_id: string): void {
    this.#count(graph_id, 'idle');
  }

  #count(graph_id: string, what: keyof Seen): void {
    const seen = this.#seen.get(graph_id) ?? { busy: 0, idle: 0 };
    seen[what] += 1;
    if (seen.busy + seen.idle > seenMax) {
      seen.busy /= 2;
      seen.idle /= 2;
    }
    this.#seen.set(graph_id, seen);
  }
}
