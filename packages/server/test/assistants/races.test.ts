// Assistants that several callers change, delete and use at once.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccessFilter } from '../../src/auth/authorization/access-filter.ts';
import { AssistantService } from '../../src/deployment/assistants/assistant-service.ts';
import { assistantStorage } from '../../src/storage/deployment/assistants.ts';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import { runStorage } from '../../src/storage/deployment/runs.ts';
import { createStorage, type Storage } from '../../src/storage/storage.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { untilOneWaits } from '../lock-waiters.ts';
import { newRun } from '../runs/run-rows.ts';

const graphs = new Map([['one', {}]]);

let db: TestDatabase;
let storage: Storage;
let assistants: AssistantService;
beforeAll(async () => {
  db = await testDatabase();
  storage = createStorage(db);
  assistants = new AssistantService(storage, graphs);
});
afterAll(() => db[Symbol.asyncDispose]());

const anybodys = { creatable: AccessFilter.everything, readable: everyRow };
const make = async (): Promise<string> =>
  (await assistants.create({ graph_id: 'one', if_exists: 'raise' }, anybodys)).assistant_id;

/** What becomes of a deletion: nothing, or the code of its problem. */
const deletion = (assistant_id: string): Promise<unknown> =>
  assistants.delete(assistant_id, everyRow, undefined).catch((error: { code?: unknown }) => error.code);

describe('the deletion of an assistant', () => {
  it('is refused when a run of it was being made', async () => {
    const assistant_id = await make();
    let deleted: Promise<unknown> | undefined;
    await db.transact(async (tx) => {
      const run = { ...newRun(assistant_id, randomUUID()), keyed: false };
      expect(await runStorage(tx).create(run)).toMatchObject({ outcome: 'created' });
      deleted = deletion(assistant_id);
      await untilOneWaits(db);
    });
    expect(await deleted).toBe('conflict');
    expect(await assistants.get(assistant_id, everyRow)).toMatchObject({ assistant_id });
  });

  it('finds nothing when another was deleting it', async () => {
    const assistant_id = await make();
    let deleted: Promise<unknown> | undefined;
    await db.transact(async (tx) => {
      await assistantStorage(tx).delete(assistant_id, everyRow);
      deleted = deletion(assistant_id);
      await untilOneWaits(db);
    });
    expect(await deleted).toBe('not_found');
  });
});

/** A service on a storage in which others do something just before an assistant is looked for, the first time. */
const beforeFirstFind = (deed: () => Promise<unknown>): AssistantService => {
  let isFirst = true;
  const find: Storage['assistants']['find'] = async (...asked) => {
    if (isFirst) await deed();
    isFirst = false;
    return storage.assistants.find(...asked);
  };
  return new AssistantService({ ...storage, assistants: { ...storage.assistants, find } }, graphs);
};

describe('an assistant that was not there for a write', () => {
  it('is changed when another makes it before it is looked for', async () => {
    const assistant_id = randomUUID();
    const asked = { assistant_id, graph_id: 'one', if_exists: 'raise' } as const;
    const late = beforeFirstFind(() => assistants.create(asked, anybodys));
    expect(await late.update(assistant_id, { name: 'changed' }, everyRow)).toMatchObject({
      name: 'changed',
      version: 2,
    });
  });

  it('is made when the one that was in its place goes before it is looked for', async () => {
    const assistant_id = await make();
    const late = beforeFirstFind(() => storage.assistants.delete(assistant_id, everyRow));
    const asked = { assistant_id, graph_id: 'one', name: 'new', if_exists: 'do_nothing' } as const;
    expect(await late.create(asked, anybodys)).toMatchObject({ name: 'new' });
  });
});
