// Searches of runs across threads.
import type { Run } from '@svc/contract';
import { cursorOfBody, foreignCursor, isId, toCursor } from '../../api/cursor.ts';
import { type FoundPage, foundPage, searchWindows } from '../../api/windowed-search.ts';
import { toTime } from '../../api/time.ts';
import type {
  RunPlace,
  RunSearch,
  RunSearchPage,
  SearchedWindow,
} from '../../storage/deployment/runs/run-search.ts';
import type { RowFilter } from '../../storage/postgres/row-filter.ts';
import type { Storage } from '../../storage/storage.ts';
import { selectedRunText } from './run-record.ts';

/** A caller who may read more threads than this is served by windows only. */
const threadsMax = 1_000;

export interface RunSearchRequest extends RunSearch {
  sort_order: 'asc' | 'desc';
  cursor?: string | undefined;
  limit: number;
  select?: readonly (keyof Run)[] | undefined;
}

export class RunSearchService {
  readonly #runs: Storage['runs'];

  constructor(storage: Pick<Storage, 'runs'>) {
    this.#runs = storage.runs;
  }

  /** Throws invalid for a cursor that is none. */
  async search(request: RunSearchRequest, access: RowFilter): Promise<FoundPage<string>> {
    const { cursor, limit, sort_order, select, ...search } = request;
    const after = cursor === undefined ? undefined : placeOf(cursor);
    const searched = await this.#find(search, { sort_order, after, limit: limit + 1 }, access);
    const wanted = searched.places.slice(0, limit);
    const page = { sort_order, limit };
    const found = await this.#runs.readPlaces(wanted, search, page, access, select?.slice());
    const rows = found.rows.map((row) => selectedRunText(row, select));
    return foundPage({ rows, isCut: found.isCut }, searched, limit, cursorOf);
  }

  /** The places of a page. `end`: where the search stopped before it had found as many. */
  async #find(search: RunSearch, page: RunSearchPage, access: RowFilter): Promise<SearchedWindow> {
    if (search.run_id !== undefined)
      return { places: await this.#runs.searchId(search, page, access), end: null };
    if (search.thread_id !== undefined) return this.#inThreads(search, page, access, [search.thread_id]);
    const { sort_order, after, limit } = page;
    return searchWindows<RunPlace>(
      { after, limit },
      (rest, rows) => this.#runs.searchWindow(search, { sort_order, ...rest }, access, rows),
      async () => {
        if (access.isEverything) return undefined;
        const threads = await this.#runs.listPassing(access, threadsMax + 1);
        return threads.length > threadsMax ? undefined : this.#inThreads(search, page, access, threads);
      },
    );
  }

  async #inThreads(
    search: RunSearch,
    page: RunSearchPage,
    access: RowFilter,
    threads: string[],
  ): Promise<SearchedWindow> {
    return { places: await this.#runs.searchThreads(search, page, access, threads), end: null };
  }
}

const cursorOf = ({ created_at, thread_id, run_id }: RunPlace): string =>
  toCursor({ start_time: created_at, id: run_id }, { thread_id });

const placeOf = (cursor: string): RunPlace => {
  const { start_time, id: run_id, more } = cursorOfBody(cursor);
  const created_at = toTime(start_time);
  const thread_id = more['thread_id'];
  if (created_at === undefined || !isId(thread_id)) throw foreignCursor();
  return { created_at, thread_id, run_id };
};
