// Work that clients repeat beside the workload of the fault tests, each with a check of everything that was acknowledged.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller } from '../faults/caller.ts';
import type { Random } from '../faults/random.ts';

export interface BackgroundClient {
  /** Sends a few requests. Throws when a response is not the expected one. */
  act(): Promise<void>;
  /** Returns one sentence for each acknowledged write that cannot be read. */
  check(): Promise<string[]>;
  /** How many writes were acknowledged, and of what. */
  summary(): string;
}

export interface ClientOptions {
  caller: Caller;
  random: Random;
}

export class BackgroundLoad {
  readonly #clients: readonly BackgroundClient[];
  readonly #loops: Promise<string[]>[];
  #stopping = false;

  constructor(clients: readonly BackgroundClient[]) {
    this.#clients = clients;
    this.#loops = clients.map((client) => this.#repeat(client));
  }

  /** Ends the load. Returns failed requests, and acknowledged writes that cannot be read. */
  async stop(): Promise<string[]> {
    this.#stopping = true;
    const failed = await Promise.all(this.#loops);
    const lost = await Promise.all(this.#clients.map((client) => client.check()));
    return [...failed, ...lost].flat();
  }

  summary(): string {
    return this.#clients.map((client) => client.summary()).join(', ');
  }

  async #repeat(client: BackgroundClient): Promise<string[]> {
    const failed: string[] = [];
    while (!this.#stopping) {
      await client.act().catch((error: unknown) => failed.push(String(error)));
      await sleep(50);
    }
    return failed;
  }
}
