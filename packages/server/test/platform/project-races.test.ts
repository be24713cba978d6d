// Projects that are deleted while others ask for them, or make them.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ProjectService } from '../../src/tracing/projects/project-service.ts';
import type { Database, Statement } from '../../src/storage/postgres/database.ts';
import { type ProjectRow, projectStorage, type ProjectStorage } from '../../src/storage/tracing/projects.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { untilOneWaits } from '../lock-waiters.ts';
import { sql } from '../exports/export-tables.ts';

let db: TestDatabase;
let storage: ProjectStorage;
beforeAll(async () => {
  db = await testDatabase();
  storage = projectStorage(db);
});
afterAll(() => db[Symbol.asyncDispose]());

let tenant_id: string;
beforeEach(async () => {
  tenant_id = randomUUID();
  await sql(db, `insert into workspaces (id, display_name) values ($1, 'w')`, [tenant_id]);
});

const make = async (id: string) =>
  (await storage.create({ tenant_id, id, name: 'p', description: null, extra: null })) as ProjectRow;

/** The database, where something happens between two statements of a transaction, once. */
const afterStatement = (name: string, deed: () => Promise<unknown>): Database => {
  let isDone = false;
  return {
    ...db,
    transact: (work) =>
      db.transact((tx) =>
        work({
          ...tx,
          async query<Row>(statement: Statement, values: readonly unknown[]) {
            const rows = await tx.query<Row>(statement, values);
            if (statement.name === name && !isDone) {
              isDone = true;
              await deed();
            }
            return rows;
          },
        }),
      ),
  };
};

const names = new Set(['p']);
const newProject = { id: undefined, name: 'p', description: undefined, extra: undefined };

describe('the id of a project', () => {
  it('that is deleted while it is looked up is not remembered', async () => {
    let meanwhile = (): Promise<void> => Promise.resolve();
    const ensure: ProjectStorage['ensure'] = async (...asked) => {
      const found = await storage.ensure(...asked);
      await meanwhile();
      return found;
    };
    const projects = new ProjectService({ ...storage, ensure });
    const { id } = await projects.create(tenant_id, newProject, false);
    meanwhile = () => projects.delete(tenant_id, id);
    await projects.idsOf(tenant_id, names);
    meanwhile = () => Promise.resolve();
    const now = (await projects.idsOf(tenant_id, names)).get('p');
    expect(now).not.toBe(id);
    expect(await storage.find(tenant_id, now ?? '')).toMatchObject({ name: 'p' });
  });

  it('is that of a new one when it is deleted before it was read', async () => {
    const old = await make(randomUUID());
    const found = await projectStorage(
      afterStatement('projects_ensure', () => storage.delete(tenant_id, old.id)),
    ).ensure(tenant_id, ['p', 'q']);
    expect([...found.keys()].toSorted()).toEqual(['p', 'q']);
    expect(found.get('p')).not.toBe(old.id);
    expect(await storage.find(tenant_id, found.get('p') ?? '')).toMatchObject({ name: 'p' });
  });

  it('is left to nobody who asks for it while it is deleted', async () => {
    const { id } = await make(randomUUID());
    let late: Promise<unknown> | undefined;
    await db.transact(async (tx) => {
      await projectStorage(tx).delete(tenant_id, id);
      late = make(id);
      await untilOneWaits(db);
    });
    expect(await late).toBeUndefined();
    expect(await storage.find(tenant_id, id)).toBeUndefined();
  });
});

describe('a project', () => {
  it('is made although the one that had its name is deleted before that is found', async () => {
    const old = await make(randomUUID());
    const findNamed: ProjectStorage['findNamed'] = async (...asked) => {
      await storage.delete(tenant_id, old.id);
      return storage.findNamed(...asked);
    };
    const projects = new ProjectService({ ...storage, findNamed });
    const made = await projects.create(tenant_id, newProject, true);
    expect(made).toMatchObject({ name: 'p' });
    expect(made.id).not.toBe(old.id);
    await expect(projects.create(tenant_id, { ...newProject, id: old.id, name: 'q' }, true)).rejects.toThrow(
      /until lately/,
    );
  });
});
