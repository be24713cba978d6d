import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SealError, Sealer } from './sealer.ts';

const sealer = new Sealer(randomBytes(32));

it('decrypts what it has encrypted for the same owner', () => {
  const property = fc.property(fc.string({ unit: 'binary' }), fc.string(), (text, belongsTo) => {
    expect(sealer.open(sealer.seal(text, belongsTo), belongsTo)).toBe(Buffer.from(text).toString());
  });
  fc.assert(property);
});

it('encrypts the same text differently every time', () => {
  expect(sealer.seal('a', 'b')).not.toBe(sealer.seal('a', 'b'));
});

it('rejects text that was changed, truncated, moved, or encrypted with another key', () => {
  const sealed = sealer.seal('a secret', 'alice');
  const [version = '', keyId = '', text = ''] = sealed.split('.');
  for (let at = 0; at < text.length - 1; at++) {
    const other = text[at] === 'A' ? 'B' : 'A';
    const changed = `${text.slice(0, at)}${other}${text.slice(at + 1)}`;
    expect(() => sealer.open(`${version}.${keyId}.${changed}`, 'alice')).toThrow(SealError);
  }
  for (const wrong of ['', 'v1', `v2.${keyId}.${text}`, `${version}.${keyId}.`, sealed.slice(0, 30)])
    expect(() => sealer.open(wrong, 'alice')).toThrow(SealError);
  expect(() => sealer.open(sealed, 'bob')).toThrow(SealError);
  expect(() => new Sealer(randomBytes(32)).open(sealed, 'alice')).toThrow(/see SVC_ENCRYPTION_KEY/);
});
