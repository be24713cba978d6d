// Pages select the events of a subagent when they learn of it: a component mounts, and selects the namespace with a request or a command. The stock
// client stops each selection at the end of the run, and then drops the replayed events of a selection that it has made before the end. In a
// short run the end would arrive first, so a page gets it some time after the first state of the newest subagent.

/** How long a component may take to mount and to open its feed. */
const mountMs = 1_000;

/** A state of a graph that a tool executes. */
const stateOfSubagent = /^values\|(?:.*\|)?tools:[^|]*$/;

export class SubagentMounts {
  readonly #known = new Set<string>();
  #newestMs = -Infinity;

  /** Takes the name of a logged event that is sent to the page. */
  take(name: string): void {
    if (!stateOfSubagent.test(name) || this.#known.has(name)) return;
    this.#known.add(name);
    this.#newestMs = performance.now();
  }

  /** How long the end of the run is to be delayed from now on. */
  get remainingMs(): number {
    return Math.max(0, this.#newestMs + mountMs - performance.now());
  }
}
