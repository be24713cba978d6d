// Concurrent changes, deletions and uses of assistants.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { AccessFilter } from '../../src/auth/authorization/access-filter.ts';
import { AssistantService } from '../../src/deployment/assistants/assistant-service.ts';
import { assistantStorage } from '../../src/storage/deployment/assistants/assistants.ts';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import { runStorage } from '../../src/storage/deployment/runs/runs.ts';
import { createStorage, type Storage } from '../../src/storage/storage.ts';
import { testDatabase } from '../database.ts';
import { untilOneWaits } from '../lock-waiters.ts';
import { newRun } from '../runs/run-rows.ts';
import { fixture } from '../fixture.ts';

const graphs = new Map([['one', {}]]);

const db = fixture(() => testDatabase());
const storage = fixture(() => createStorage(db));
const assistants = fixture(() => new AssistantService(storage, graphs));

const unrestricted = { creatable: AccessFilter.everything, readable: everyRow };
const make = async (): Promise<string> =>
  (await assistants.create({ graph_id: 'one', if_exists: 'raise' }, unrestricted)).assistant_id;

/** Deletes an assistant; returns undefined, or the code of the problem. */
const deletion = (assistant_id: string): Promise<unknown> =>
  assistants.delete(assistant_id, everyRow, undefined).catch((error: { code?: unknown }) => error.code);

describe('the deletion of an assistant', () => {
  it('is rejected when a run of the assistant was being created', async () => {
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

  it('returns not_found when another transaction deletes it first', async () => {
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

/** A service whose storage executes `action` just before the first lookup of an assistant. */
const beforeFirstFind = (action: () => Promise<unknown>): AssistantService => {
  let isFirst = true;
  const find: Storage['assistants']['find'] = async (...args) => {
    if (isFirst) await action();
    isFirst = false;
    return storage.assistants.find(...args);
  };
  return new AssistantService({ ...storage, assistants: { ...storage.assistants, find } }, graphs);
};

describe('an assistant whose write matched no row', () => {
  it('is updated when another caller creates it before the lookup', async () => {
    const assistant_id = randomUUID();
    const fields = { assistant_id, graph_id: 'one', if_exists: 'raise' } as const;
    const service = beforeFirstFind(() => assistants.create(fields, unrestricted));
    expect(await service.update(assistant_id, { name: 'changed' }, everyRow)).toMatchObject({
      name: 'changed',
      version: 2,
    });
  });

  it('is created when the existing one is deleted before the lookup', async () => {
    const assistant_id = await make();
    const service = beforeFirstFind(() => storage.assistants.delete(assistant_id, everyRow));
    const fields = { assistant_id, graph_id: 'one', name: 'new', if_exists: 'do_nothing' } as const;
    expect(await service.create(fields, unrestricted)).toMatchObject({ name: 'new' });
  });
});
