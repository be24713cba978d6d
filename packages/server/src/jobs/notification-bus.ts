// What processes tell each other through the database: one connection listens, whatever the number of listeners.
// Every ring is a hint. Whoever acts on one also looks for itself now and then, and when told that some were missed.
import type { Database } from '../storage/postgres/database.ts';

/** p: a run can be claimed. e: a run's log has grown, or it is gone. l: a run is followed elsewhere. c: a run shall stop. t: a watched thread has a new run. w: a webhook is to be sent. k: an API key was revoked. x: an export was made, or shall stop. */
export type NotificationKind = 'p' | 'e' | 'l' | 'c' | 't' | 'w' | 'k' | 'x';

type Listener = (id: string) => void;

export class NotificationBus implements AsyncDisposable {
  readonly #listeners = new Map<string, Listener[]>();
  readonly #missed: (() => void)[] = [];
  #connection: AsyncDisposable | undefined;

  /** `listener` must not throw. */
  on(kind: NotificationKind, listener: Listener): void {
    this.#listeners.set(kind, [...(this.#listeners.get(kind) ?? []), listener]);
  }

  /** Rings may have been missed. Must not throw. */
  onMissed(listener: () => void): void {
    this.#missed.push(listener);
  }

  /** Rejects when the database cannot be reached; later it comes back by itself. */
  async open(database: Pick<Database, 'listen'>): Promise<void> {
    this.#connection = await database.listen(
      'svc',
      (payload) => {
        const kind = payload.charAt(0);
        for (const listener of this.#listeners.get(kind) ?? []) listener(payload.slice(2));
      },
      () => {
        for (const listener of this.#missed) listener();
      },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection?.[Symbol.asyncDispose]();
  }
}
