import { InfiniteQueryObserver, QueryClient, QueryObserver } from '@tanstack/react-query';
import { expect, it } from 'vitest';
import { refreshing } from './live-runs.tsx';

/** Queries of two threads, which are read when the test answers. */
const observed = () => {
  const queries = new QueryClient();
  const reads: string[] = [];
  const answers: (() => void)[] = [];
  for (const id of ['a', 'b'])
    new QueryObserver(queries, {
      queryKey: ['thread', id],
      initialData: 'read before',
      staleTime: Infinity,
      queryFn: () => {
        reads.push(id);
        return new Promise((resolve) => answers.push(() => resolve('read')));
      },
    }).subscribe(() => undefined);
  return { queries, reads, answers };
};

it('changes during a read cause one more read after it, of the threads that have changed', async () => {
  const { queries, reads, answers } = observed();
  const refresh = refreshing(queries);
  refresh(['a']);
  await expect.poll(() => reads).toEqual(['a']);
  refresh(['a']);
  refresh(['b']);
  refresh(['b']);
  answers[0]?.();
  await expect.poll(() => reads).toEqual(['a', 'a', 'b']);
});

it('a change of any thread reads all again', async () => {
  const { queries, reads } = observed();
  refreshing(queries)(undefined);
  await expect.poll(() => reads).toEqual(['a', 'b']);
});

it('a change does not read a long list again, nor cancel the read of its next page', async () => {
  const queries = new QueryClient();
  const reads: string[] = [];
  let answer = (): void => undefined;
  const nextPage = new Promise<void>((resolve) => (answer = resolve));
  const list = (id: string, pages: number) => {
    const observer = new InfiniteQueryObserver(queries, {
      queryKey: ['runs', id],
      initialData: {
        pages: Array.from({ length: pages }, (_, page) => page),
        pageParams: Array.from({ length: pages }, (_, page) => page),
      },
      initialPageParam: 0,
      staleTime: Infinity,
      getNextPageParam: (_, __, last) => last + 1,
      queryFn: ({ pageParam }) => {
        reads.push(`${id} ${pageParam}`);
        return id === 'next' ? nextPage.then(() => pageParam) : pageParam;
      },
    });
    observer.subscribe(() => undefined);
    return observer;
  };
  list('short', 1);
  list('long', 4);
  const next = list('next', 1).fetchNextPage();
  refreshing(queries)(undefined);
  await expect.poll(() => reads.toSorted()).toEqual(['next 1', 'short 0']);
  answer();
  expect((await next).data?.pages).toEqual([0, 1]);
});
