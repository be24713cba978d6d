import { QueryClient } from '@tanstack/react-query';
import type { Run, RunSummary } from '@svc/sdk';
import { expect, it } from 'vitest';
import { patchRun } from './patch-runs.ts';

const run = (id: string, changed: Partial<Run> = {}): Run => ({
  run_id: id,
  thread_id: 't',
  assistant_id: 'a',
  created_at: '2026-01-31T12:00:00.000000Z',
  updated_at: '2026-01-31T12:00:00.000000Z',
  status: 'pending',
  metadata: {},
  kwargs: { input: 1 },
  multitask_strategy: 'enqueue',
  attempt: 0,
  ...changed,
});
const changed = (id: string, fields: Partial<RunSummary>): RunSummary => {
  const { kwargs: _, waiting_for: __, ...summary } = run(id, fields);
  return summary;
};
const later = '2026-01-31T12:00:01.000000Z';

const client = (): QueryClient => {
  const queries = new QueryClient();
  queries.setQueryData(['runs', 'newest', false], [run('1'), run('2')]);
  queries.setQueryData(['runs', {}], { pages: [{ runs: [run('1')] }, { runs: [run('2')] }], pageParams: [] });
  queries.setQueryData(['run', 't', '2'], run('2', { waiting_for: { reason: 'slot', message: 'full' } }));
  return queries;
};

it('a run is the same in all lists and in its detail, in its place, with its input', () => {
  const queries = client();
  const before = queries.getQueryData<{ pages: object[] }>(['runs', {}]);
  expect(patchRun(queries, changed('2', { status: 'running', attempt: 1, updated_at: later }))).toEqual([]);
  const patched = { ...run('2'), status: 'running', attempt: 1, updated_at: later };
  expect(queries.getQueryData(['runs', 'newest', false])).toEqual([run('1'), patched]);
  const after = queries.getQueryData<{ pages: object[] }>(['runs', {}]);
  expect(after?.pages[1]).toEqual({ runs: [patched] });
  expect(after?.pages[0]).toBe(before?.pages[0]);
  expect(queries.getQueryData(['run', 't', '2'])).toEqual(patched);
});

it('an older state does not replace a newer one', () => {
  const queries = client();
  patchRun(queries, changed('1', { status: 'success', updated_at: later }));
  patchRun(queries, changed('1', { status: 'running' }));
  expect(queries.getQueryData<Run[]>(['runs', 'newest', false])?.[0]?.status).toBe('success');
});

it('lists that lack the run are to be read again, unless their filter leaves it out or they hold it back', () => {
  const queries = new QueryClient();
  const held: string[] = [];
  const metas = {
    open: undefined,
    other: { canContain: () => false },
    held: { isHeld: () => true, onNew: ({ run_id: id }: RunSummary) => void held.push(id) },
  };
  for (const [name, meta] of Object.entries(metas)) {
    const options = { queryKey: ['runs', name], ...(meta ? { meta } : {}) };
    queries.getQueryCache().build(queries, options);
    queries.setQueryData(['runs', name], [run('1')]);
  }
  expect(patchRun(queries, changed('2', { created_at: later }))).toEqual([['runs', 'open']]);
  expect(held).toEqual(['2']);
});

it('a held list counts only runs that were created after its newest row', () => {
  const queries = new QueryClient();
  const counted: string[] = [];
  const meta = { isHeld: () => true, onNew: ({ run_id: id }: RunSummary) => void counted.push(id) };
  queries.getQueryCache().build(queries, { queryKey: ['runs'], meta });
  queries.setQueryData(['runs'], [run('2', { created_at: later }), run('1')]);
  expect(patchRun(queries, changed('0', { status: 'error', updated_at: later }))).toEqual([]);
  patchRun(queries, changed('3', { created_at: '2026-01-31T12:00:02.000000Z' }));
  expect(counted).toEqual(['3']);
});

it('a list is to be read again when a run of it leaves its filter, unless it is held', () => {
  const queries = new QueryClient();
  const canContain = ({ status }: RunSummary) => status === 'pending';
  for (const isHeld of [false, true]) {
    const meta = { canContain, isHeld: () => isHeld };
    queries.getQueryCache().build(queries, { queryKey: ['runs', isHeld], meta });
    queries.setQueryData(['runs', isHeld], [run('1')]);
  }
  expect(patchRun(queries, changed('1', { attempt: 1, updated_at: later }))).toEqual([]);
  const left = changed('1', { attempt: 1, status: 'success', updated_at: '2026-01-31T12:00:02.000000Z' });
  expect(patchRun(queries, left)).toEqual([['runs', false]]);
  expect(queries.getQueryData<Run[]>(['runs', true])?.[0]?.status).toBe('success');
});
