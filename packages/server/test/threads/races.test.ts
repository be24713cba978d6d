// Threads that concurrent callers create, change, delete and use.
import { randomUUID } from 'node:crypto';
import { Problem } from '@svc/contract/problem';
import { beforeAll, describe, expect, it } from 'vitest';
import { type JsonPart, textOf } from '../../src/parsing/json-bytes.ts';
import { AccessFilter } from '../../src/auth/authorization/access-filter.ts';
import type { StateTasks } from '../../src/deployment/threads/state-rendering.ts';
import type { JsonTasks } from '../../src/parsing/json-task.ts';
import { createParsing } from '../../src/parsing/parsing.ts';
import { StateReader } from '../../src/deployment/threads/state-reader.ts';
import { StateService } from '../../src/deployment/threads/state-service.ts';
import { ThreadService } from '../../src/deployment/threads/thread-service.ts';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import { runStorage } from '../../src/storage/deployment/runs/runs.ts';
import type { NewRun } from '../../src/storage/deployment/runs/run-rows.ts';
import { createStorage, type Storage } from '../../src/storage/storage.ts';
import { testDatabase } from '../database.ts';
import { untilOneWaits } from '../lock-waiters.ts';
import { newAssistant, newRun } from '../runs/run-rows.ts';
import { fixture } from '../fixture.ts';

const db = fixture(() => testDatabase());
const storage = fixture(() => createStorage(db));
let assistant_id: string;
beforeAll(async () => {
  assistant_id = await newAssistant(db);
});

const unrestricted = { creatable: AccessFilter.everything, readable: everyRow };
const teamA = AccessFilter.parse({ team: 'a' });
const updater = { keys: {}, assistantAccess: everyRow };

/** The executor's result for a state update. */
type Update = (order: { thread_id: string }) => Promise<unknown>;

const threadsOn = (on: Storage, update: Update = () => Promise.reject(new Error('no executor'))) => {
  const dispatcher = { pool: { update }, cancel: () => undefined };
  const reader = new StateReader(
    on,
    createParsing<JsonTasks & StateTasks>(1_000_000, { warn: () => undefined }).parser,
  );
  return new ThreadService(on, reader, new StateService(on, reader, dispatcher as never), dispatcher);
};

/** A run on an existing thread. */
const runOn = (thread_id: string): NewRun => ({
  ...newRun(assistant_id, thread_id),
  create_thread: false,
  keyed: false,
});

describe('a thread whose supersteps are rejected', () => {
  const create = (thread_id: string, update: Update) =>
    threadsOn(storage, update).create(
      {
        thread_id,
        metadata: { graph_id: 'agent' },
        if_exists: 'raise',
        supersteps: [{ updates: [{ values: {}, as_node: 'node' }] }],
      },
      unrestricted,
      updater,
    );

  it('is deleted', async () => {
    const thread_id = randomUUID();
    const refuse = () => Promise.reject(new Problem('invalid', 'no such node'));
    await expect(create(thread_id, refuse)).rejects.toMatchObject({ code: 'invalid' });
    expect(await storage.threads.find(thread_id, everyRow)).toBeUndefined();
  });

  it('is kept with a run that another caller created on it meanwhile', async () => {
    const thread_id = randomUUID();
    const run = runOn(thread_id);
    const refuse = async () => {
      await storage.runs.create(run);
      throw new Problem('conflict', 'The thread is busy');
    };
    await expect(create(thread_id, refuse)).rejects.toMatchObject({ code: 'conflict' });
    expect(await storage.runs.find(run.run_id, thread_id, everyRow)).toMatchObject({ status: 'pending' });
  });

  it('is kept with a state that another caller stored meanwhile', async () => {
    const thread_id = randomUUID();
    const [owner, checkpoint_id] = [randomUUID(), randomUUID()];
    const emptyBatch = { blobs: [], checkpoints: [], writes: [], summaries: [], events: [], endings: [] };
    const head = { owner, thread_id, checkpoint_ns: '', checkpoint_id, expected: null };
    const refuse = async () => {
      await storage.checkpoints.commit({ ...emptyBatch, owners: [{ owner, thread_id }], heads: [head] });
      throw new Problem('invalid', 'no such node');
    };
    await expect(create(thread_id, refuse)).rejects.toMatchObject({ code: 'invalid' });
    expect(await storage.checkpoints.findHeadId(thread_id, '')).toBe(checkpoint_id);
  });

  it('is kept with a run that another caller is creating on it', async () => {
    const thread_id = randomUUID();
    const run = runOn(thread_id);
    let making: Promise<void> | undefined;
    const refuse = async () => {
      await new Promise<void>((resolve) => {
        making = db.transact(async (tx) => {
          await runStorage(tx).create(run);
          resolve();
          await untilOneWaits(db);
        });
      });
      throw new Problem('invalid', 'no such node');
    };
    await expect(create(thread_id, refuse)).rejects.toMatchObject({ code: 'invalid' });
    await making;
    expect(await storage.runs.find(run.run_id, thread_id, everyRow)).toMatchObject({ status: 'pending' });
  });
});

/** A storage that executes actions just before and just after the first lookup of a thread. */
const aroundFirstFind = (before: () => Promise<unknown>, after?: () => Promise<unknown>): Storage => {
  let isFirst = true;
  const find: Storage['threads']['find'] = async (...args) => {
    if (!isFirst) return storage.threads.find(...args);
    isFirst = false;
    await before();
    const found = await storage.threads.find(...args);
    await after?.();
    return found;
  };
  return { ...storage, threads: { ...storage.threads, find } };
};

const parsed = (thread: JsonPart): unknown => JSON.parse(textOf(thread));

describe('a thread whose write matched no row', () => {
  it('is changed when another caller creates it before the lookup', async () => {
    const thread_id = randomUUID();
    const made = () => storage.threads.create({ thread_id, metadata: { made: true }, config: {} });
    const threads = threadsOn(aroundFirstFind(made));
    expect(parsed(await threads.patch(thread_id, { changed: true }, everyRow))).toMatchObject({
      metadata: { made: true, changed: true },
    });
  });

  it("is rejected when the change would move it outside of the caller's filter", async () => {
    const thread_id = randomUUID();
    await storage.threads.create({ thread_id, metadata: { team: 'a' }, config: {} });
    const patched = threadsOn(storage).patch(thread_id, { team: 'b' }, teamA);
    await expect(patched).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('is created when the existing one is deleted before the lookup', async () => {
    const thread_id = randomUUID();
    await storage.threads.create({ thread_id, metadata: { old: true }, config: {} });
    const threads = threadsOn(aroundFirstFind(() => storage.threads.delete(thread_id, everyRow)));
    const fields = { thread_id, metadata: { new: true }, if_exists: 'do_nothing' } as const;
    expect(parsed(await threads.create(fields, unrestricted, updater))).toMatchObject({
      metadata: { new: true },
    });
  });

  it('is the one that another caller creates in place of a deleted one', async () => {
    const thread_id = randomUUID();
    await storage.threads.create({ thread_id, metadata: { old: true }, config: {} });
    const remove = () => storage.threads.delete(thread_id, everyRow);
    const replace = () => storage.threads.create({ thread_id, metadata: { others: true }, config: {} });
    const threads = threadsOn(aroundFirstFind(remove, replace));
    const fields = { thread_id, metadata: { new: true }, if_exists: 'do_nothing' } as const;
    expect(parsed(await threads.create(fields, unrestricted, updater))).toMatchObject({
      metadata: { others: true },
    });
  });

  it('is created when the existing one is deleted before its values are read', async () => {
    const thread_id = randomUUID();
    await storage.threads.create({ thread_id, metadata: { old: true }, config: {} });
    const find: Storage['checkpoints']['find'] = async (key) => {
      await storage.threads.delete(thread_id, everyRow);
      return storage.checkpoints.find(key);
    };
    const threads = threadsOn({ ...storage, checkpoints: { ...storage.checkpoints, find } });
    const fields = { thread_id, metadata: { new: true }, if_exists: 'do_nothing' } as const;
    expect(parsed(await threads.create(fields, unrestricted, updater))).toMatchObject({
      metadata: { new: true },
    });
  });
});
