// Buttons below long lists: by page numbers, and by loading the next page of a cursor.
import type { ReactNode } from 'react';

/** Rows of a page that has a number. */
export const pageSize = 50;

/** The number in an address; 1 when it is absent or no number. */
export const pageNumber = (text: string | undefined): number =>
  Math.max(1, Math.floor(Number(text ?? '1')) || 1);

/** The text of a number for an address, which does not name the first page. */
export const pageText = (page: number): string | undefined => (page > 1 ? String(page) : undefined);

/** Shown only when there is another page. `count`: rows of this page; undefined while they are loaded. */
export const Pager = ({
  page,
  count,
  labels: [before, after] = ['Newer', 'Older'],
  onPage,
}: {
  page: number;
  count: number | undefined;
  /** What the previous and the next page have. */
  labels?: readonly [string, string];
  onPage: (page: number) => void;
}): ReactNode =>
  (page > 1 || count === pageSize) && (
    <div className="load-more">
      <button type="button" className="button" disabled={page <= 1} onClick={() => onPage(page - 1)}>
        {before}
      </button>
      <span className="muted">page {page}</span>
      <button
        type="button"
        className="button"
        disabled={(count ?? 0) < pageSize}
        onClick={() => onPage(page + 1)}
      >
        {after}
      </button>
    </div>
  );

/** What a query of cursor pages offers. */
interface Cursored {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => Promise<unknown>;
}

export const LoadOlder = ({ query, label }: { query: Cursored; label: string }): ReactNode =>
  query.hasNextPage && (
    <div className="load-more">
      <button
        type="button"
        className="button"
        disabled={query.isFetchingNextPage}
        onClick={() => void query.fetchNextPage()}
      >
        {query.isFetchingNextPage ? 'Loading…' : label}
      </button>
    </div>
  );
