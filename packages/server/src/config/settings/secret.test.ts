import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Secret, withoutPassword } from './secret.ts';

describe('a secret', () => {
  it('is only returned by reveal()', () => {
    const secret = new Secret('hunter2');
    const prints = [
      String(secret),
      JSON.stringify({ secret }),
      inspect({ secret }),
      inspect(secret, { showHidden: true }),
    ];
    for (const print of prints) expect(print).not.toContain('hunter2');
    expect(secret.reveal()).toBe('hunter2');
  });
});

describe('a database URI without its password', () => {
  it.each([
    ['postgres://u:p@host/db', 'postgres://u:[redacted]@host/db'],
    ['postgres://u:p@ss:w/rd@host/db', 'postgres://u:[redacted]@host/db'],
    ['postgresql://host/db?user=u&password=p&x=1', 'postgresql://host/db?user=u&password=[redacted]&x=1'],
    ['postgres://host:5432/db', 'postgres://host:5432/db'],
    ['postgres://u@host:5432/db', 'postgres://u@host:5432/db'],
  ])('%s is shown as %s', (uri, shown) => {
    expect(withoutPassword(uri)).toBe(shown);
  });

  it('never contains a password with any characters', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.constantFrom('', '@', '/', ':', '?', '#', '%40'), (word, odd) => {
        expect(withoutPassword(`postgres://u:${odd}${word}${odd}@host:5432/db`)).not.toContain(word);
      }),
    );
  });
});
