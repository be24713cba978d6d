// A digest of JSON text that is not written: the text of a large value would need as much memory as the value.
import { createHash } from 'node:crypto';
import { writeJson } from './wire-text.ts';

const chunkChars = 65_536;
const digestChars = 22;

/** Equal for values with the same JSON.stringify(): 132 bits of its SHA-256, as base64url. For a JSON value; its members may be undefined. */
export const jsonDigest = (value: unknown): string => {
  const hash = createHash('sha256');
  let pending = '';
  writeJson(value, (text) => {
    pending += text;
    if (pending.length < chunkChars) return;
    hash.update(pending);
    pending = '';
  });
  return hash.update(pending).digest('base64url').slice(0, digestChars);
};
