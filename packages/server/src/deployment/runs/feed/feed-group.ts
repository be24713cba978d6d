// Readers of the feed with the same filter and the same rights. The runs that they are sent are read once.
import { RunSummary } from '@svc/contract';
import type { FedRun, FedRuns } from '../../../storage/deployment/run-changes.ts';
import type { RunSearch } from '../../../storage/deployment/run-search.ts';
import type { RunStorage } from '../../../storage/deployment/runs.ts';
import type { RowFilter } from '../../../storage/postgres/row-filter.ts';
import { isUnavailable } from '../../../storage/postgres/sql-state.ts';
import { runText } from '../run-record.ts';
import type { FedEvent, FeedReader } from './feed-reader.ts';
import { SentChanges } from './sent-changes.ts';

export interface FeedFilter {
  search: RunSearch;
  access: RowFilter;
  select: readonly (keyof RunSummary)[] | undefined;
}

/** Runs that are read together. */
const chunkSize = 500;

const allFields = RunSummary.keyof().options;

export const keyOf = ({ search, access, select }: FeedFilter): string =>
  JSON.stringify([search, access.jsonpath, select ?? null]);

export class FeedGroup {
  readonly readers = new Set<FeedReader>();
  /** What readers that are up to date were sent. */
  readonly sent = new SentChanges();
  readonly #runs: Pick<RunStorage, 'readChanged'>;
  readonly #read: FedRuns;
  #isPrimed = false;

  constructor(runs: Pick<RunStorage, 'readChanged'>, { search, access, select }: FeedFilter) {
    this.#runs = runs;
    this.#read = { search, access, fields: select ?? allFields };
  }

  /** False while all readers are new. */
  get isPrimed(): boolean {
    return this.#isPrimed;
  }

  /** Notes changes before the first reader came, so that a reader that reconnects soon is not sent them. */
  async prime(ids: readonly string[]): Promise<void> {
    if (this.#isPrimed) return;
    for await (const events of this.events(ids)) for (const { version } of events) this.sent.add(version);
    this.#isPrimed = true;
  }

  /** Sends those of the runs that match to the readers that are up to date. `readAt`: the time of the last complete pass. */
  async send(ids: readonly string[], readAt: string): Promise<void> {
    for await (const events of this.events(ids)) {
      const fresh = events.filter(({ version }) => this.sent.add(version));
      if (fresh.length === 0) continue;
      const id = this.sent.eventId(readAt);
      for (const reader of this.readers) reader.sendLive(fresh, id);
    }
  }

  /** The events of those of the runs that match, some at a time. */
  async *events(ids: readonly string[]): AsyncGenerator<FedEvent[]> {
    for (let at = 0; at < ids.length; at += chunkSize) {
      const left = new Set(ids.slice(at, at + chunkSize));
      for (let isCut = true; isCut && left.size > 0;) {
        const page = await this.#runs.readChanged([...left], this.#read);
        for (const { run_id } of page.rows) if (run_id !== undefined) left.delete(run_id);
        ({ isCut } = page);
        yield page.rows.map(toEvent);
      }
    }
  }

  /** An error of the statement is one of the filter. Rethrows that of a database that is unavailable. */
  async failing(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      if (isUnavailable(error)) throw error;
      for (const reader of this.readers) reader.fail(error);
    }
  }
}

const toEvent = (row: FedRun): FedEvent => ({
  version: { run_id: row.run_id ?? '', updated_at: row.version_at, attempt: row.version_attempt },
  event: { event: 'run', data: runText(row) },
});
