// Chooses the nodes that clients use by their /ready, like a load balancer.
import { setTimeout as sleep } from 'node:timers/promises';
import { sendOnce } from '../faults/caller.ts';
import type { SvcNode } from '../faults/node-process.ts';
import { until } from '../eventually.ts';

/** Between two checks of a node. */
const intervalMs = 250;

export class LoadBalancer implements AsyncDisposable {
  /** Responses of /ready other than 200 by nodes that were ready before and got no stop signal. */
  readonly refusals: string[] = [];
  readonly #nodes: () => SvcNode[];
  readonly #ready = new Set<SvcNode>();
  readonly #stopping = new WeakSet<SvcNode>();
  readonly #ended: Promise<void>;
  #isOpen = true;

  constructor(nodes: () => SvcNode[]) {
    this.#nodes = nodes;
    this.#ended = this.#watch();
  }

  /** The URLs of the nodes that are ready. */
  urls(): string[] {
    return [...this.#ready].map(({ url }) => url);
  }

  untilReady(node: SvcNode): Promise<void> {
    return until(() => this.#ready.has(node), 60_000);
  }

  /** Sends the stop signal. As long as the node is ready by its last check, clients use it. */
  terminate(node: SvcNode): void {
    this.#stopping.add(node);
    node.terminate();
  }

  async #watch(): Promise<void> {
    while (this.#isOpen) {
      const nodes = this.#nodes();
      for (const node of this.#ready) if (!nodes.includes(node)) this.#ready.delete(node);
      await Promise.all(nodes.map((node) => this.#check(node)));
      await sleep(intervalMs);
    }
  }

  async #check(node: SvcNode): Promise<void> {
    const since = this.#ready.has(node);
    const status = await sendOnce(node.url, { method: 'GET', path: '/ready' }).then(
      (answer) => answer.status,
      () => 0, // no response
    );
    if (status === 200) this.#ready.add(node);
    else {
      this.#ready.delete(node);
      if (since && !this.#stopping.has(node)) this.refusals.push(`${node.name}: ${status}`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOpen = false;
    await this.#ended;
  }
}
