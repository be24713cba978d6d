// Events in the log of a run that its next attempt emits again although no write of the run shows that they are logged: interrupts, because
// a claim deletes their writes, and `updates` of tasks that earlier runs have finished.
import type { CheckpointStorage } from '../../storage/deployment/checkpoints/checkpoints.ts';

export class RepeatedEvents {
  /** How often the log has an event, by its name and data. */
  readonly #logged = new Map<string, number>();

  /** Reads what the earlier attempts have logged. */
  async load(run_id: string, storage: Pick<CheckpointStorage, 'repeatableEvents'>): Promise<void> {
    for (const events of await storage.repeatableEvents(run_id)) {
      const lines = events.split('\n');
      for (let at = 0; at + 1 < lines.length; at += 2) this.#add(lines[at] ?? '', lines[at + 1] ?? '');
    }
  }

  #add(event: string, data: string): void {
    if (!/^updates(?![^|])/.test(event) || !repeatable.some((part) => data.includes(part))) return;
    const key = keyOf(event, data);
    this.#logged.set(key, (this.#logged.get(key) ?? 0) + 1);
  }

  /** True when the log has the event. Each logged event is taken once: two tasks may have equal updates. */
  take(event: string, data: string): boolean {
    const key = keyOf(event, data);
    const count = this.#logged.get(key) ?? 0;
    if (count > 0) this.#logged.set(key, count - 1);
    return count > 0;
  }
}

const repeatable = ['"__interrupt__":', '"cached":true'];

const keyOf = (event: string, data: string): string => `${event}\n${data}`;
