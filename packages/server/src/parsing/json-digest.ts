// A digest of JSON text that is not written: the text of a large value would need as much memory as the value.
import { createHash } from 'node:crypto';

const chunkChars = 65_536;
const digestChars = 22;

/** Equal for values with the same JSON.stringify(): 132 bits of its SHA-256, as base64url. For a value of JSON types and undefined. */
export const jsonDigest = (value: unknown): string => {
  const hash = createHash('sha256');
  let pending = '';
  const add = (text: string): void => {
    pending += text;
    if (pending.length < chunkChars) return;
    hash.update(pending);
    pending = '';
  };
  addJson(value, add);
  return hash.update(pending).digest('base64url').slice(0, digestChars);
};

const addJson = (value: unknown, add: (text: string) => void): void => {
  if (typeof value !== 'object' || value === null) return add(JSON.stringify(value ?? null));
  let before = '';
  if (Array.isArray(value)) {
    add('[');
    for (const element of value) {
      add(before);
      addJson(element, add);
      before = ',';
    }
    return add(']');
  }
  add('{');
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    add(`${before}${JSON.stringify(key)}:`);
    addJson(member, add);
    before = ',';
  }
  return add('}');
};
