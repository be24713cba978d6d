// Reads the changes of all runs, in reads of a bounded size. A pass reads from the last pass on, and the seconds before it again: changes become
// visible late (storage/deployment/run-changes.ts). Changes that were read before are left out.
import type { ChangedRun, ChangePlace } from '../../../storage/deployment/run-changes.ts';
import type { RunStorage } from '../../../storage/deployment/runs.ts';

/** Changes that one statement reads. */
const readMax = 5_000;

export interface ScannedChanges {
  changed: ChangedRun[];
  /** The pass has read everything; otherwise the next read continues it. */
  isComplete: boolean;
  /** To be called when the changes were sent. Until then, they are read again. */
  settle: () => void;
}

interface Pass {
  /** Where the pass after the next one begins. */
  next: string;
  readAt: string;
  oldest: string;
}

export class ChangeScan {
  readonly #runs: Pick<RunStorage, 'listChanged'>;
  readonly #readMax: number;
  readonly #seen = new Map<string, ChangedRun>();
  /** Where the next read begins. */
  #place: { at: ChangePlace | undefined; withOverlap: boolean };
  /** The pass that is under way. */
  #pass: Pass | undefined;
  #next: string | undefined;
  #complete: Pass | undefined;

  /** `readAt`: the time up to which all changes were read; the scan begins before now when it is absent. */
  constructor(runs: Pick<RunStorage, 'listChanged'>, readAt?: string, limit = readMax) {
    this.#runs = runs;
    this.#readMax = limit;
    this.#place = { at: readAt === undefined ? undefined : { updated_at: readAt }, withOverlap: true };
  }

  /** The time of the last complete pass; undefined before there was one. */
  get readAt(): string | undefined {
    return this.#complete?.readAt;
  }

  /** Changes before this time are not read again. */
  get oldest(): string {
    return this.#complete?.oldest ?? '';
  }

  /** The newest runs that have changed in the last seconds. */
  newest(count: number): string[] {
    return [...this.#seen.keys()].slice(-count);
  }

  async read(): Promise<ScannedChanges> {
    const { at, withOverlap } = this.#place;
    const found = await this.#runs.listChanged(at, { limit: this.#readMax, withOverlap });
    const { rows, read_at: readAt, next_since: next, oldest } = found;
    const isComplete = rows.length < this.#readMax;
    const pass = this.#pass ?? { next, readAt, oldest };
    return {
      changed: rows.filter((row) => isOther(row, this.#seen.get(row.run_id))),
      isComplete,
      settle: () => {
        for (const row of rows) this.#see(row);
        if (isComplete) this.#finish(pass);
        else {
          this.#pass = pass;
          this.#place = { at: rows.at(-1), withOverlap: false };
        }
      },
    };
  }

  #see(row: ChangedRun): void {
    if (!isOther(row, this.#seen.get(row.run_id))) return;
    this.#seen.delete(row.run_id);
    this.#seen.set(row.run_id, row);
  }

  /**
   * The next pass begins where the pass before this one allowed: a transaction that wrote at both times, and commits between the list of
   * transactions and the snapshot of one statement, is in neither.
   */
  #finish(pass: Pass): void {
    this.#place = { at: { updated_at: this.#next ?? pass.oldest }, withOverlap: false };
    this.#next = pass.next;
    this.#pass = undefined;
    this.#complete = pass;
    for (const [run_id, { updated_at }] of this.#seen)
      if (updated_at < pass.oldest) this.#seen.delete(run_id);
  }
}

const isOther = (row: ChangedRun, seen: ChangedRun | undefined): boolean =>
  seen?.updated_at !== row.updated_at || seen.attempt !== row.attempt;
