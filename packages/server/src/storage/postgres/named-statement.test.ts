import { describe, expect, it } from 'vitest';
import { functionCall, namedStatement } from './named-statement.ts';

describe('a statement with named parameters', () => {
  it('numbers them in the order of its list, and leaves casts as they are', () => {
    const { statement, values } = namedStatement({
      name: 'find',
      reads: true,
      parameters: ['id', 'max'],
      text: 'select 1 from t where n < :max and id = :id::uuid and (:max > 0)',
    });
    expect(statement).toEqual({
      name: 'find',
      reads: true,
      text: 'select 1 from t where n < $2 and id = $1::uuid and ($2 > 0)',
    });
    expect(values({ max: 5, id: 'a' })).toEqual(['a', 5]);
  });

  it('has exactly the parameters of its list', () => {
    const make = (parameters: string[]) => () => namedStatement({ name: 'x', parameters, text: 'select :a' });
    expect(make(['b'])).toThrow('Statement x has no parameter a');
    expect(make(['a', 'b'])).toThrow('Statement x does not use b');
  });
});

it('a call of a function names its arguments', () => {
  const parameters = ['id', 'lease'] as const;
  expect(functionCall({ name: 'f', function: 'f', parameters }).statement.text).toBe(
    `select * from f(p_id => $1, p_lease => $2)`,
  );
  expect(functionCall({ name: 'f', function: 'f', parameters: ['id'], as: 'done' }).statement.text).toBe(
    'select f(p_id => $1) as done',
  );
});
