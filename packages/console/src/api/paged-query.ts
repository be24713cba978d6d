import {
  type InfiniteData,
  type QueryKey,
  useInfiniteQuery,
  type UseInfiniteQueryOptions,
  type UseInfiniteQueryResult,
} from '@tanstack/react-query';

export type PagedQuery<Page> = UseInfiniteQueryResult<InfiniteData<Page>>;

type Options<Page, Cursor> = Omit<
  UseInfiniteQueryOptions<Page, Error, InfiniteData<Page>, QueryKey, NoInfer<Cursor> | undefined>,
  'queryFn' | 'initialPageParam' | 'getNextPageParam'
>;

/** Reads a list page by page. The first page has no cursor. */
export const usePagedQuery = <Page, Cursor = string>({
  read,
  next,
  ...options
}: Options<Page, Cursor> & {
  read: (cursor: Cursor | undefined, call: { signal: AbortSignal }) => Promise<Page>;
  /** The cursor of the page behind the last one; nothing when there is none. */
  next: (last: Page, pages: Page[]) => Cursor | null | undefined;
}): PagedQuery<Page> =>
  useInfiniteQuery<Page, Error, InfiniteData<Page>, QueryKey, Cursor | undefined>({
    ...options,
    queryFn: ({ signal, pageParam }) => read(pageParam as Cursor | undefined, { signal }),
    initialPageParam: undefined,
    getNextPageParam: next,
  });

/** The server ends a page of deliveries before its limit after many deliveries of other users: reading it is expensive. */
export const hasEndedEarly = (
  { deliveries, next }: { deliveries: readonly unknown[]; next?: string | undefined },
  limit: number,
): boolean => next !== undefined && deliveries.length < limit;
