// Graphs that compute: their runs keep the event loop of an executor busy, and its other runs wait. The report of an executor does not name the
// run that computes. So two things are counted for each graph:
//
//   busy   an executor with a run of the graph became busy, for a second at least
//   idle   an executor with a run of the graph reported that it is not busy; or it ended such a run within a second, or without being busy for as long
//
// Runs that a busy executor receives are not counted, since they are not the reason. A graph that computes and waits in turns has more of the
// second kind, and is not recognized.
import type { LoadChange } from './event-loop-load.ts';

interface Seen {
  busy: number;
  idle: number;
}

/** From this number on, what was seen longer ago counts less. */
const seenMax = 100;

export class ComputingGraphs {
  readonly #seen = new Map<string, Seen>();

  /** Whether executors with runs of the graph became busy more often than they were seen idle. */
  has(graph_id: string): boolean {
    const { busy, idle } = this.#seen.get(graph_id) ?? { busy: 0, idle: 0 };
    return busy > idle;
  }

  /** `running`: the graphs of the executor's runs; of those that may have made it busy when it became busy. */
  note(change: LoadChange, running: Iterable<string>): void {
    if (change === undefined) return;
    for (const graph_id of running) this.#count(graph_id, change === 'became_busy' ? 'busy' : 'idle');
  }

  /** A run of the graph has ended that was short, or did not keep its executor busy for long. */
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
