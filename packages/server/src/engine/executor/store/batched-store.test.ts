import { AsyncBatchedStore, InMemoryStore, type Operation } from '@langchain/langgraph-checkpoint';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { waitForOperations } from './batched-store.ts';

/** The class is changed, so each test gets one of its own. */
const batchedClass = () => {
  class Batched extends AsyncBatchedStore {}
  const { prototype } = AsyncBatchedStore as unknown as { prototype: Record<string, unknown> };
  for (const method of ['start', 'stop', 'enqueueOperation', 'processBatchQueue'])
    Object.defineProperty(Batched.prototype, method, { value: prototype[method], writable: true });
  waitForOperations(Batched);
  return Batched;
};

class RecordingStore extends InMemoryStore {
  readonly sizes: number[] = [];
  /** Batches wait for it. */
  held: Promise<void> | undefined;
  failure: Error | undefined;

  override async batch<Op extends readonly Operation[]>(operations: Op) {
    this.sizes.push(operations.length);
    await this.held;
    if (this.failure) throw this.failure;
    return super.batch(operations);
  }
}

let inner: RecordingStore;
let store: AsyncBatchedStore;
beforeEach(() => {
  inner = new RecordingStore();
  store = new (batchedClass())(inner);
  store.start();
});
afterEach(() => store.stop());

it('sets no timer while there are no operations', async () => {
  const timers = vi.spyOn(globalThis, 'setTimeout');
  await sleep(20);
  expect(timers).not.toHaveBeenCalled();
  timers.mockRestore();
});

it('hands operations of one turn to the store at once', async () => {
  await Promise.all([store.put(['a'], '1', { n: 1 }), store.put(['a'], '2', { n: 2 })]);
  expect((await store.get(['a'], '2'))?.value).toEqual({ n: 2 });
  expect(inner.sizes).toEqual([2, 1]);
});

it('keeps one batch under way, and the next waits for it', async () => {
  let release = (): void => undefined;
  inner.held = new Promise((resolve) => (release = resolve));
  const puts = [store.put(['a'], '1', { n: 1 })];
  await vi.waitFor(() => expect(inner.sizes).toEqual([1]));
  puts.push(store.put(['a'], '2', { n: 2 }), store.put(['a'], '3', { n: 3 }));
  await sleep(10);
  expect(inner.sizes).toEqual([1]);
  release();
  await Promise.all(puts);
  expect(inner.sizes).toEqual([1, 2]);
});

it('stops when the operations before have been answered', async () => {
  let isAnswered = false;
  const put = store.put(['a'], '1', { n: 1 }).then(() => (isAnswered = true));
  await store.stop();
  await put;
  expect(isAnswered).toBe(true);
});

it('has stopped one turn of the event loop later, when all that was under way in microtasks is done', async () => {
  let turns = 0;
  setImmediate(() => (turns += 1));
  await store.stop();
  expect(turns).toBe(1);
});

it('answers what was asked while it was stopped when it starts again', async () => {
  await store.stop();
  const put = store.put(['a'], '1', { n: 1 });
  await sleep(10);
  expect(inner.sizes).toEqual([]);
  store.start();
  await put;
  expect(inner.sizes).toEqual([1]);
});

it('goes on after an error of the store', async () => {
  inner.failure = new Error('away');
  await expect(store.put(['a'], '1', { n: 1 })).rejects.toThrow('away');
  inner.failure = undefined;
  await store.put(['a'], '1', { n: 1 });
  expect((await store.get(['a'], '1'))?.value).toEqual({ n: 1 });
});
