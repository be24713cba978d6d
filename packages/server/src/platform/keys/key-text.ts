// What a key looks like: `svc_sk_`, 43 characters that hold 32 random bytes, and 6 that check them.
import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const randomChars = 43;
const checkChars = 6;

const base62 = (value: bigint, length: number): string => {
  let text = '';
  for (let rest = value; text.length < length; rest /= 62n)
    text = (alphabet[Number(rest % 62n)] ?? '') + text;
  return text;
};

export const newKeyText = (kind: 'service' | 'personal'): string => {
  const random = base62(BigInt(`0x${randomBytes(32).toString('hex')}`), randomChars);
  const head = `svc_${kind === 'service' ? 'sk' : 'pt'}_${random}`;
  return head + base62(BigInt(crc32(head)), checkChars);
};

/** Whether it can be one of ours at all; others are keys that someone chose. */
export const isMistyped = (key: string): boolean => {
  if (!/^svc_(?:sk|pt)_[0-9A-Za-z]{49}$/.test(key)) return false;
  const head = key.slice(0, -checkChars);
  return base62(BigInt(crc32(head)), checkChars) !== key.slice(-checkChars);
};

export const hashKey = (key: string): Buffer => createHash('sha256').update(key).digest();

/** How people tell keys apart. */
export const shortKey = (key: string): string => `${key.slice(0, 11)}…${key.slice(-4)}`;
