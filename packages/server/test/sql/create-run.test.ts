// The record that create_run() takes.
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { recordOf } from '../../src/storage/deployment/runs/run-creation.ts';
import { testDatabase } from '../database.ts';
import { newRun } from '../runs/run-rows.ts';

it('the record of a run has every field of new_run, and no other', async () => {
  await using db = await testDatabase();
  const text = `select attname from pg_attribute where attrelid = 'new_run'::regclass`;
  const fields = await db.query<{ attname: string }>({ name: 'fields', text }, []);
  expect(Object.keys(recordOf(newRun(randomUUID(), randomUUID()))).toSorted()).toEqual(
    fields.map(({ attname }) => attname).toSorted(),
  );
});
