// What a key looks like: `svc_sk_`, 8 characters that identify it and may be shown, `_`, 43 characters that hold 32 secret random bytes, and
// 6 that check them all. Keys of earlier versions have no part that may be shown.
import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const publicChars = 8;
const randomChars = 43;
const checkChars = 6;

const base62 = (value: bigint, length: number): string => {
  let text = '';
  for (let rest = value; text.length < length; rest /= 62n)
    text = (alphabet[Number(rest % 62n)] ?? '') + text;
  return text;
};

export interface KeyText {
  text: string;
  /** The beginning of the text, chosen apart from the secret: it identifies the key and says nothing about it. */
  prefix: string;
}

const randomText = (bytes: number, length: number): string =>
  base62(BigInt(`0x${randomBytes(bytes).toString('hex')}`), length);

export const newKeyText = (kind: 'service' | 'personal'): KeyText => {
  const prefix = `svc_${kind === 'service' ? 'sk' : 'pt'}_${randomText(8, publicChars)}`;
  const head = `${prefix}_${randomText(32, randomChars)}`;
  return { prefix, text: head + base62(BigInt(crc32(head)), checkChars) };
};

/** Whether it can be one of ours at all; others are keys that someone chose. */
export const isMistyped = (key: string): boolean => {
  if (!/^svc_(?:sk|pt)_(?:[0-9A-Za-z]{8}_)?[0-9A-Za-z]{49}$/.test(key)) return false;
  const head = key.slice(0, -checkChars);
  return base62(BigInt(crc32(head)), checkChars) !== key.slice(-checkChars);
};

export const hashKey = (key: string): Buffer => createHash('sha256').update(key).digest();
