// Sends readers what they have missed. All readers that wait when it begins share one scan, which begins at the oldest of their positions.
import type { RunStorage } from '../../../storage/deployment/runs.ts';
import { ChangeScan } from './change-scan.ts';
import type { FeedGroup } from './feed-group.ts';
import type { FeedReader } from './feed-reader.ts';

interface Missing {
  reader: FeedReader;
  group: FeedGroup;
  readAt: string;
}

export class CatchUp {
  readonly #runs: Pick<RunStorage, 'listChanged'>;
  /** Readers of the next scan. */
  #next: Missing[] = [];
  #current: { scan: ChangeScan; missing: Missing[] } | undefined;

  constructor(runs: Pick<RunStorage, 'listChanged'>) {
    this.#runs = runs;
  }

  /** `readAt`: the position of the reader. */
  add(missing: Missing): void {
    this.#next.push(missing);
  }

  /** Reads once. Readers that have been sent everything become live. */
  async read(): Promise<void> {
    this.#current ??= this.#begin();
    if (!this.#current) return;
    const { scan } = this.#current;
    const missing = this.#current.missing.filter(({ reader }) => !reader.isGone);
    const { changed, isComplete, settle } = await scan.read();
    const ids = changed.map(({ run_id }) => run_id);
    for (const group of new Set(missing.map((one) => one.group))) {
      const readers = missing.filter((one) => one.group === group).map(({ reader }) => reader);
      await group.failing(sendMissed(group, readers, ids));
    }
    settle();
    if (!isComplete) return;
    for (const { reader } of missing) reader.catchUp();
    this.#current = undefined;
  }

  #begin(): { scan: ChangeScan; missing: Missing[] } | undefined {
    const missing = this.#next;
    const [oldest] = missing.map(({ readAt }) => readAt).toSorted();
    if (oldest === undefined) return undefined;
    this.#next = [];
    return { scan: new ChangeScan(this.#runs, oldest), missing };
  }
}

const sendMissed = async (
  group: FeedGroup,
  readers: readonly FeedReader[],
  ids: readonly string[],
): Promise<void> => {
  for await (const events of group.events(ids)) for (const reader of readers) reader.sendMissed(events);
};
