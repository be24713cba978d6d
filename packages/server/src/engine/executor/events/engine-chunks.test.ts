import { expect, it } from 'vitest';
import { StoredIds } from '../../checkpoints/checkpoint-ids.ts';
import type { CheckpointChunk } from './chunk-events.ts';
import { withStoredIds } from './engine-chunks.ts';

const future = '1f2e9437-5bcf-6e00-800e-c54116d8a7cb';
const now = '1f1e9337-5bcf-6e00-800f-c54116d8a7cb';
const next = '1f1e9337-6bcf-6e00-8010-c54116d8a7cb';

const configOf = (checkpoint_id: string) => ({
  configurable: { thread_id: 'thread', checkpoint_ns: '', checkpoint_id },
});

const chunkOf = (id: string, parent: string): CheckpointChunk => ({
  config: configOf(id),
  parentConfig: configOf(parent),
  values: {},
  metadata: { step: 1 },
  next: [],
  tasks: [],
});

const idsIn = (payload: unknown): string[] => {
  const { config, parentConfig } = payload as CheckpointChunk;
  return [config, parentConfig].map((one) => String(one?.configurable?.['checkpoint_id']));
};

it('names checkpoints as they will be stored, before they are put', () => {
  const ids = new StoredIds();
  ids.record(future, future);
  const [first, parent] = idsIn(withStoredIds(ids, 'checkpoints', chunkOf(now, future)));
  expect(parent).toBe(future);
  const debug = withStoredIds(ids, 'debug', { type: 'checkpoint', payload: chunkOf(next, now) });
  const [second, between] = idsIn((debug as { payload: unknown }).payload);
  expect(between).toBe(first);
  expect(String(first) > future).toBe(true);
  expect(String(second) > String(first)).toBe(true);
  expect([ids.assign('', now, future), ids.assign('', next, ids.of(now))]).toEqual([first, second]);
});

it('leaves other chunks as they are', () => {
  const ids = new StoredIds();
  const chunk = chunkOf(next, now);
  expect(withStoredIds(ids, 'checkpoints', chunk)).toBe(chunk);
  expect(withStoredIds(ids, 'values', chunk)).toBe(chunk);
  expect(withStoredIds(undefined, 'checkpoints', chunk)).toBe(chunk);
});
