// The engine wraps the store of every run in its AsyncBatchedStore, whose `put` drops the fourth argument, `index`.
import type { BaseStore } from '@langchain/langgraph-checkpoint';

type Put = BaseStore['put'];

interface BatchedStore {
  put: Put;
  enqueueOperation(operation: object): Promise<void>;
}

/** Makes `put` of the class pass `index` on. Does nothing when the engine does so itself. */
export const keepIndexOfPuts = (batched: { prototype: object }): void => {
  const prototype = batched.prototype as BatchedStore;
  const { put } = prototype;
  if (put.length > 3 || typeof prototype.enqueueOperation !== 'function') return;
  prototype.put = function (this: BatchedStore, namespace, key, value, index) {
    if (index === undefined) return put.call(this, namespace, key, value);
    const own: BatchedStore = Object.create(this) as BatchedStore;
    // `put` checks the namespace, and hands the operation to this method.
    own.enqueueOperation = (operation) => this.enqueueOperation({ ...operation, index });
    return put.call(own, namespace, key, value);
  };
};
