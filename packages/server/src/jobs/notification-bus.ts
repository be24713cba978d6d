// Notifications between processes through the database (LISTEN and NOTIFY), over one connection for all listeners of this process.
// Notifications may be lost, so each listener also polls, and checks the database itself after onMissed.
import type { Database } from '../storage/postgres/database.ts';

/**
 * p: a run can be claimed. e: a run's log has grown, or the run is over. l: another node follows a run. c: a run was cancelled. i: an
 * input was sent into a run. t: a watched thread has a new run. w: a webhook is due. k: an API key was revoked. x: an export was created or its state has changed.
 */
export type NotificationKind = 'p' | 'e' | 'l' | 'c' | 'i' | 't' | 'w' | 'k' | 'x';

type Listener = (id: string) => void;

export class NotificationBus implements AsyncDisposable {
  readonly #listeners = new Map<string, Listener[]>();
  readonly #missed: (() => void)[] = [];
  #connection: AsyncDisposable | undefined;

  /** `listener` must not throw. */
  on(kind: NotificationKind, listener: Listener): void {
    this.#listeners.set(kind, [...(this.#listeners.get(kind) ?? []), listener]);
  }

  /** `listener` is called when notifications may have been missed. It must not throw. */
  onMissed(listener: () => void): void {
    this.#missed.push(listener);
  }

  /** Rejects when the database cannot be reached. A connection that breaks later is replaced. */
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
