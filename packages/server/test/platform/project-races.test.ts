// Projects that are deleted while others look them up or create them.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ProjectService } from '../../src/tracing/projects/project-service.ts';
import type { Database, Statement } from '../../src/storage/postgres/database.ts';
import {
  type ProjectRow,
  projectStorage,
  type ProjectStorage,
  statements,
} from '../../src/storage/tracing/projects.ts';
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

/** A database that executes `action` once, after this statement of a transaction. */
const afterStatement = ({ text }: Statement, action: () => Promise<unknown>): Database => {
  let isDone = false;
  return {
    ...db,
    transact: (work) =>
      db.transact((tx) =>
        work({
          ...tx,
          async query<Row>(statement: Statement<Row>, values: readonly unknown[]) {
            const rows = await tx.query<Row>(statement, values);
            if (statement.text === text && !isDone) {
              isDone = true;
              await action();
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
  it('is not cached when the project is deleted during the lookup', async () => {
    let meanwhile = (): Promise<void> => Promise.resolve();
    const ensure: ProjectStorage['ensure'] = async (...args) => {
      const found = await storage.ensure(...args);
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

  it('is that of a new project when the old one is deleted before the read', async () => {
    const old = await make(randomUUID());
    const found = await projectStorage(
      afterStatement(statements.ensure, () => storage.delete(tenant_id, old.id)),
    ).ensure(tenant_id, ['p', 'q']);
    expect([...found.keys()].toSorted()).toEqual(['p', 'q']);
    expect(found.get('p')).not.toBe(old.id);
    expect(await storage.find(tenant_id, found.get('p') ?? '')).toMatchObject({ name: 'p' });
  });

  it('is not returned while the project is being deleted', async () => {
    const { id } = await make(randomUUID());
    let lookup: Promise<unknown> | undefined;
    await db.transact(async (tx) => {
      await projectStorage(tx).delete(tenant_id, id);
      lookup = make(id);
      await untilOneWaits(db);
    });
    expect(await lookup).toBeUndefined();
    expect(await storage.find(tenant_id, id)).toBeUndefined();
  });
});

describe('a project', () => {
  it('is created although the one with its name is deleted before the lookup', async () => {
    const old = await make(randomUUID());
    const findNamed: ProjectStorage['findNamed'] = async (...args) => {
      await storage.delete(tenant_id, old.id);
      return storage.findNamed(...args);
    };
    const projects = new ProjectService({ ...storage, findNamed });
    const made = await projects.create(tenant_id, newProject, true);
    expect(made).toMatchObject({ name: 'p' });
    expect(made.id).not.toBe(old.id);
    await expect(projects.create(tenant_id, { ...newProject, id: old.id, name: 'q' }, true)).rejects.toThrow(
      /was deleted recently/,
    );
  });
});
