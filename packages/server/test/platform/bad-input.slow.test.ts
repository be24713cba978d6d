// Every route of the platform with values of wrong types in every field and query parameter.
import { afterAll, it } from 'vitest';
import { scaled } from '../speed.ts';
import { expectFieldsRejected, expectQueriesRejected, startSampledPlatform } from './sampled-platform.ts';
import { fixture } from '../fixture.ts';

const sampled = fixture(() => startSampledPlatform());
afterAll(() => sampled.platform[Symbol.asyncDispose]());

it(
  "a body with a field of a wrong type is rejected by every route, with the field's name",
  () =>
    expectFieldsRejected(sampled, [
      {},
      [],
      [{}],
      'x'.repeat(70_000),
      -1,
      1.5,
      true,
      '',
      'nonsense',
      [null],
      { a: { b: [] } },
    ]),
  scaled(120_000),
);

it(
  'a query with a value of a wrong type is rejected by every route',
  () =>
    expectQueriesRejected(sampled, [
      '-1',
      '1.5',
      '1e9',
      'abc',
      '',
      '%00',
      "'",
      '99999999999999999999',
      '[',
      '["a"',
      '{}',
      '%ff',
    ]),
  scaled(120_000),
);
