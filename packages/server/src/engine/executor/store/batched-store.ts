// The engine wraps the store of every run in its AsyncBatchedStore, which looks for operations a thousand times a second until the run ends. A few
// hundred runs that wait for their models would use a core.
import type { BaseStore } from '@langchain/langgraph-checkpoint';

interface BatchedStore {
  running: boolean;
  processingTask: Promise<void> | null;
  queue: ReadonlyMap<number, object>;
  start: (this: BatchedStore) => void;
  stop: (this: BatchedStore) => Promise<void>;
  enqueueOperation: (this: BatchedStore, operation: object) => Promise<unknown>;
  processBatchQueue: (this: BatchedStore) => Promise<void>;
}

const isKnown = (prototype: Partial<BatchedStore>): prototype is BatchedStore =>
  [prototype.start, prototype.stop, prototype.enqueueOperation, prototype.processBatchQueue].every(
    (method) => typeof method === 'function',
  );

/** Makes the class wait for operations instead. Those of one turn of the event loop still go to the store as one batch. */
export const waitForOperations = (batched: { prototype: object }): void => {
  const prototype = batched.prototype as Partial<BatchedStore>;
  if (!isKnown(prototype)) return;
  const { stop, enqueueOperation, processBatchQueue } = prototype;

  /** One round of the engine's own loop, which ends when it finds that it is not running any more. */
  const processBatch = (store: BatchedStore): Promise<void> => {
    const once = Object.create(store) as BatchedStore;
    once.running = true;
    const done = processBatchQueue.call(once);
    once.running = false;
    return done;
  };

  prototype.processBatchQueue = async function () {
    while (this.queue.size > 0) await processBatch(this);
    this.processingTask = null;
  };
  prototype.enqueueOperation = function (operation) {
    const result = enqueueOperation.call(this, operation);
    if (this.running) this.processingTask ??= this.processBatchQueue();
    return result;
  };
  prototype.start = function () {
    this.running = true;
    if (this.queue.size > 0) this.processingTask ??= this.processBatchQueue();
  };
  // The engine closes the stream of a run when its store has stopped. Callback handlers receive tokens in the background, and pass them to
  // the stream in microtasks: without a turn of the event loop the last tokens would be lost.
  prototype.stop = async function () {
    await stop.call(this);
    await new Promise(setImmediate);
  };
};

// The engine wraps the store of every run in its AsyncBatchedStore. The `put` of that class drops its fourth argument, `index`.
interface PuttingStore {
  put: BaseStore['put'];
  enqueueOperation(operation: object): Promise<void>;
}

/** Makes `put` of the class pass `index` on. Does nothing when the engine does so itself. */
export const keepIndexOfPuts = (batched: { prototype: object }): void => {
  const prototype = batched.prototype as PuttingStore;
  const { put } = prototype;
  if (put.length > 3 || typeof prototype.enqueueOperation !== 'function') return;
  prototype.put = function (this: PuttingStore, namespace, key, value, index) {
    if (index === undefined) return put.call(this, namespace, key, value);
    const own = Object.create(this) as PuttingStore;
    // `put` checks the namespace, and hands the operation to this method.
    own.enqueueOperation = (operation) => this.enqueueOperation({ ...operation, index });
    return put.call(own, namespace, key, value);
  };
};
