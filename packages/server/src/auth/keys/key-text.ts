// The format of keys: `svc_sk_`, 8 characters that identify the key and may be shown, `_`, 43 characters that encode 32 secret random bytes,
// and a checksum of 6 characters.
import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { sha256 } from '../sha256.ts';

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
  /** The start of the text. It is random and independent of the secret, so it may be shown. */
  prefix: string;
}

const textOf = (bytes: Buffer, length: number): string =>
  base62(BigInt(`0x${bytes.toString('hex')}`), length);

const publicBytes = 8;
/** Bytes from which a key is made: those of its public part, and the secret ones. */
export const keyTextBytes = publicBytes + 32;

export const newKeyText = (
  kind: 'service' | 'personal',
  bytes: Buffer = randomBytes(keyTextBytes),
): KeyText => {
  const prefix = `svc_${kind === 'service' ? 'sk' : 'pt'}_${textOf(bytes.subarray(0, publicBytes), publicChars)}`;
  const head = `${prefix}_${textOf(bytes.subarray(publicBytes), randomChars)}`;
  return { prefix, text: head + base62(BigInt(crc32(head)), checkChars) };
};

/** True for a key in our format with a wrong checksum. A key in another format was chosen by an operator. */
export const isMistyped = (key: string): boolean => {
  if (!/^svc_(?:sk|pt)_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}$/.test(key)) return false;
  const head = key.slice(0, -checkChars);
  return base62(BigInt(crc32(head)), checkChars) !== key.slice(-checkChars);
};

export const hashKey = (key: string): Buffer => sha256(key);
