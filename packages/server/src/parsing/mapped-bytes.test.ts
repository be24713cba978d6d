import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { freeMapped, mappedBytes, mappedText } from './mapped-bytes.ts';

const mb = 1_048_576;

/** Resident megabytes of this process that files do not back. */
const residentMb = (): number =>
  Number(/^RssAnon:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1_024;

describe('mapped bytes', () => {
  it.runIf(process.platform === 'linux')('return their memory to the system when they are freed', () => {
    const all = Array.from({ length: 64 }, () => mappedBytes(mb).fill(1));
    const full = residentMb();
    for (const one of all) freeMapped(one);
    // Not 64: the memory of this process may also change when garbage of other test files is collected.
    expect(full - residentMb()).toBeGreaterThan(48);
  });

  it('can be transferred with their content', () => {
    const bytes = mappedBytes(mb).fill(7);
    const moved = structuredClone(bytes, { transfer: [bytes.buffer] });
    expect(moved).toHaveLength(mb);
    expect(moved.every((byte) => byte === 7)).toBe(true);
    expect(bytes).toHaveLength(0);
  });

  it('contain a text in UTF-8', () => {
    for (const text of ['', 'é', '😀é'.repeat(50_000)])
      expect(new TextDecoder().decode(mappedText(text))).toBe(text);
  });
});
