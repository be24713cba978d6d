import { describe, expect, it } from 'vitest';
import { RecentBlobs } from './recent-blobs.ts';

const blob = (hash: string, chars: number) => ({ hash, refs: null, payload: 'x'.repeat(chars) });

describe('recent blobs', () => {
  it('are found in their space only', () => {
    const recent = new RecentBlobs();
    recent.add('a', [blob('1', 10)]);
    expect(recent.find('a', '1')).toEqual(blob('1', 10));
    expect(recent.find('b', '1')).toBeUndefined();
  });

  it('have at most 32 Mi characters: those that were used least recently are dropped', () => {
    const recent = new RecentBlobs();
    const hashes = Array.from({ length: 40 }, (_, n) => String(n));
    for (const hash of hashes) {
      recent.add('a', [blob(hash, 1_000_000)]);
      recent.find('a', '0');
    }
    const kept = hashes.filter((hash) => recent.find('a', hash) !== undefined);
    expect(kept).toEqual(['0', ...hashes.slice(-32)]);
  });

  it('do not contain large ones', () => {
    const recent = new RecentBlobs();
    recent.add('a', [blob('1', 2_000_000), blob('2', 10)]);
    expect(recent.find('a', '1')).toBeUndefined();
    expect(recent.find('a', '2')).toBeDefined();
  });
});
