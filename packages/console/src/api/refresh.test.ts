import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { expect, it } from 'vitest';
import { refreshChanged } from './refresh.ts';

it('reads again what was read for the first time when the change happened', async () => {
  const queries = new QueryClient();
  const answers: ((value: string) => void)[] = [];
  const observer = new QueryObserver(queries, {
    queryKey: ['thread', 'id', 'state'],
    queryFn: () => new Promise<string>((resolve) => answers.push(resolve)),
  });
  const stop = observer.subscribe(() => undefined);
  const refreshed = refreshChanged(queries);
  await expect.poll(() => answers.length).toBe(2);
  answers[0]?.('before the change');
  answers[1]?.('after the change');
  await refreshed;
  expect(observer.getCurrentResult().data).toBe('after the change');
  stop();
});

it('does not read other threads again when one thread has changed', async () => {
  const queries = new QueryClient();
  const reads: string[] = [];
  const stops = ['first', 'second'].map((id) =>
    new QueryObserver(queries, {
      queryKey: ['thread', id, 'state'],
      queryFn: () => {
        reads.push(id);
        return id;
      },
    }).subscribe(() => undefined),
  );
  await expect.poll(() => queries.isFetching()).toBe(0);
  await refreshChanged(queries, 'first');
  expect(reads).toEqual(['first', 'second', 'first']);
  for (const stop of stops) stop();
});
