// Migrations replace the functions of the database while servers call them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

const call = (text: string) => database.query({ name: '', text }, []);

describe('a call of a function that calls one that was just replaced', () => {
  it('is repeated', async () => {
    // A sequence keeps its value when the call fails.
    await database.script('create sequence calls');
    await database.script(
      `create function outer_call() returns text language plpgsql as $$
        begin
          if nextval('calls') = 1 then perform replaced_meanwhile(); end if;
          return 'done';
        end $$`,
    );
    expect(await call('select outer_call() as answer')).toEqual([{ answer: 'done' }]);
  });

  it('fails when the function does not come back', async () => {
    await database.script(
      `create function hopeless_call() returns void language plpgsql as $$
        begin perform never_there(); end $$`,
    );
    await expect(call('select hopeless_call()')).rejects.toThrow('function never_there() does not exist');
  });
});
