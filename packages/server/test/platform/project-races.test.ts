// Projects that are deleted while others ask for them, or make them.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ProjectService } from '../../src/platform/projects/project-service.ts';
import { projectStorage, type ProjectStorage } from '../../src/storage/projects.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
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
});
