// Sends readers the changes that they have missed. All readers that wait when it begins share one scan, which begins at the oldest of their
// positions. A pass over more than one read can miss changes that become visible between its reads, so another pass follows it.
import type { RunStorage } from '../../../storage/deployment/runs.ts';
import { ChangeScan } from './change-scan.ts';
import type { FeedGroup } from './feed-group.ts';
import type { FeedReader } from './feed-reader.ts';

interface Missing {
  reader: FeedReader;
  group: FeedGroup;
  readAt: string;
  /** The epoch of the reader when it was added. */
  epoch: number;
}

interface Current {
  scan: ChangeScan;
  missing: Missing[];
  /** Reads of the pass. */
  reads: number;
  /** Complete passes. */
  passes: number;
}

/** After so many passes, runs change faster than they are read: readers are sent a gap. */
const passesMax = 20;

export class CatchUp {
  readonly #runs: Pick<RunStorage, 'listChanged'>;
  readonly #readMax: number | undefined;
  /** Readers of the next scan. */
  #next: Missing[] = [];
  #current: Current | undefined;

  /** `readMax`: changes that one read returns. */
  constructor(runs: Pick<RunStorage, 'listChanged'>, readMax?: number) {
    this.#runs = runs;
    this.#readMax = readMax;
  }

  /** `readAt`: the position of the reader. */
  add(missing: Missing): void {
    this.#next.push(missing);
  }

  /** Reads once. Readers that have been sent everything become live. */
  async read(): Promise<void> {
    const current = this.#continue() ?? this.#begin();
    this.#current = current;
    if (!current) return;
    const { missing, scan } = current;
    const { changed, isComplete, settle } = await scan.read();
    const ids = changed.map(({ run_id }) => run_id);
    for (const group of new Set(missing.map((one) => one.group))) {
      const readers = missing.filter((one) => one.group === group);
      await group.failing(sendMissed(group, readers, ids));
    }
    settle();
    current.reads++;
    if (!isComplete) return;
    current.passes++;
    const hasAll = current.reads === 1;
    current.reads = 0;
    if (!hasAll && current.passes < passesMax) return;
    for (const { reader, epoch } of missing) reader.catchUp(epoch, hasAll);
    this.#current = undefined;
  }

  /** The scan that is under way, unless all of its readers have left or wait for another one. */
  #continue(): Current | undefined {
    const current = this.#current;
    if (!current) return undefined;
    current.missing = current.missing.filter(({ reader, epoch }) => reader.isCatchingUp(epoch));
    return current.missing.length > 0 ? current : undefined;
  }

  #begin(): Current | undefined {
    const missing = this.#next.filter(({ reader, epoch }) => reader.isCatchingUp(epoch));
    this.#next = [];
    const [oldest] = missing.map(({ readAt }) => readAt).toSorted();
    if (oldest === undefined) return undefined;
    return { scan: new ChangeScan(this.#runs, oldest, this.#readMax), missing, reads: 0, passes: 0 };
  }
}

const sendMissed = async (
  group: FeedGroup,
  readers: readonly Missing[],
  ids: readonly string[],
): Promise<void> => {
  for await (const events of group.events(ids))
    for (const { reader, epoch } of readers) reader.sendMissed(events, epoch);
};
