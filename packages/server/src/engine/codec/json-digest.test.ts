import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonDigest } from './json-digest.ts';

const digestOfText = (text: string): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, 22);

describe('the digest of a JSON value', () => {
  it('is the digest of its text', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => jsonDigest(value) === digestOfText(JSON.stringify(value))),
    );
  });

  it('does not depend on where the text is cut into chunks', () => {
    const value = Array.from({ length: 20_000 }, (_, row) => ({ row, text: 'é"\u{1F600}'.repeat(row % 7) }));
    expect(jsonDigest(value)).toBe(digestOfText(JSON.stringify(value)));
  });

  it('omits what JSON omits', () => {
    expect(jsonDigest({ a: undefined, b: [undefined] })).toBe(digestOfText('{"b":[null]}'));
  });
});
