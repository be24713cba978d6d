// Long lists: with buttons for page numbers, or with one for the next page of a cursor.
import type { ReactNode } from 'react';
import type { PagedQuery } from '../api/paged-query.ts';
import { Loaded } from './states.tsx';
import { Button } from './button.tsx';

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
      <Button disabled={page <= 1} onClick={() => onPage(page - 1)}>
        {before}
      </Button>
      <span className="muted">page {page}</span>
      <Button disabled={(count ?? 0) < pageSize} onClick={() => onPage(page + 1)}>
        {after}
      </Button>
    </div>
  );

export const LoadOlder = ({ query, label }: { query: PagedQuery<unknown>; label: string }): ReactNode =>
  query.hasNextPage && (
    <div className="load-more">
      <Button disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        {query.isFetchingNextPage ? 'Loading…' : label}
      </Button>
    </div>
  );

/** The rows of all pages that were read, or the state of the query without any. */
export const LoadedPages = <Page, Row>({
  query,
  rowsOf,
  empty,
  more,
  children,
}: {
  query: PagedQuery<Page>;
  rowsOf: (page: Page) => readonly Row[];
  empty?: ReactNode;
  /** The label of the button that reads the next page. */
  more: string;
  children: (rows: readonly Row[], pages: readonly Page[]) => ReactNode;
}): ReactNode => (
  <Loaded query={query}>
    {({ pages }) => {
      const rows = pages.flatMap(rowsOf);
      if (rows.length === 0 && empty !== undefined && !query.hasNextPage) return empty;
      return (
        <>
          {children(rows, pages)}
          <LoadOlder query={query} label={more} />
        </>
      );
    }}
  </Loaded>
);
