import { hashOf, toEventId, type FeedPosition, type RunVersion } from './feed-position.ts';

/** Changes that were sent in the last seconds. They are read again, and not sent again. */
export class SentChanges {
  readonly #versions = new Map<string, { updated_at: string; hash: string }>();
  readonly #before: ReadonlySet<string>;

  /** `before`: what was sent on an earlier connection. */
  constructor(before: FeedPosition['sent'] = new Set()) {
    this.#before = before;
  }

  /** Returns whether the version is a new one, and remembers it. */
  add(version: RunVersion): boolean {
    const hash = hashOf(version);
    const isNew = !this.has(version.run_id, hash);
    // The newest versions are the last.
    this.#versions.delete(version.run_id);
    this.#versions.set(version.run_id, { updated_at: version.updated_at, hash });
    return isNew;
  }

  has(run_id: string, hash: string): boolean {
    return this.#before.has(hash) || this.#versions.get(run_id)?.hash === hash;
  }

  /** Forgets versions that are not read again. */
  prune(oldest: string): void {
    for (const [run_id, { updated_at }] of this.#versions)
      if (updated_at < oldest) this.#versions.delete(run_id);
  }

  /** The id of an event: a reader that continues after it is sent nothing again. */
  eventId(readAt: string): string {
    const hashes = Array.from(this.#versions.values(), ({ hash }) => hash);
    return toEventId(readAt, [...this.#before, ...hashes]);
  }
}
