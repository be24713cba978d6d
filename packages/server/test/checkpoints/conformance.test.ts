// LangGraph's own test suite for checkpointers.
import {
  getTupleTests,
  listTests,
  putTests,
  putWritesTests,
  deltaChannelHistoryTests,
} from '@langchain/langgraph-checkpoint-validation';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../database.ts';
import { ThreadSavers } from './thread-savers.ts';

/** Cases that do not apply to this saver, with the reason. */
const inapplicable = new Map([
  ['should migrate pending sends', 'our storage never held checkpoints of the formats before 4'],
  [
    'should only store channel_values that have changed (based on newVersions)',
    'values are stored by the hash of their content: all of them are kept, and unchanged ones take no space',
  ],
]);

const only = new Proxy(it, {
  apply: (target, self, [name, ...rest]: [string, ...never[]]) =>
    Reflect.apply(inapplicable.has(name) ? target.skip : target, self, [name, ...rest]) as unknown,
});

// The suite expects the test functions as globals.
Object.assign(globalThis, { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it: only });

const databases = new Map<ThreadSavers, TestDatabase>();

const initializer = {
  checkpointerName: 'svc',
  async createCheckpointer() {
    const database = await testDatabase();
    const savers = new ThreadSavers(database);
    databases.set(savers, database);
    return savers;
  },
  async destroyCheckpointer(savers: ThreadSavers) {
    await databases.get(savers)?.[Symbol.asyncDispose]();
  },
};

getTupleTests(initializer);
putTests(initializer);
putWritesTests(initializer);
listTests(initializer);
deltaChannelHistoryTests(initializer);
