// What a jsonb column can hold. Clients' JSON was checked on the way in; a graph may hand over anything.
import { invalid } from '@svc/contract/problem';

const depthMax = 100;
const loneSurrogate = /\p{Surrogate}/u;

/** Throws `invalid` naming the place when the value cannot be stored as it is. */
export const assertStorable = (value: unknown, path: (string | number)[] = ['value']): void => {
  const fail = (what: string): never => {
    throw invalid(path, `${path.join('.')} ${what}`);
  };
  switch (typeof value) {
    case 'bigint':
    case 'function':
    case 'symbol':
      return fail(`is a ${typeof value}, which JSON cannot hold`);
    case 'boolean':
    case 'number':
    case 'undefined':
      return;
    case 'string':
      if (value.includes('\u0000') || loneSurrogate.test(value))
        fail('holds NUL or a lone surrogate, which the store cannot keep');
      return;
    case 'object':
      if (value === null) return;
      if (path.length > depthMax) fail(`is nested deeper than ${depthMax}, or in a circle`);
      for (const [key, child] of Object.entries(value)) {
        assertStorable(key, [...path, key]);
        assertStorable(child, [...path, key]);
      }
      return;
  }
};
