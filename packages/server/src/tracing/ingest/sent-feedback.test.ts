import { describe, expect, it } from 'vitest';
import { FeedbackParts } from './sent-run.ts';

const part = (id: string, bytes: number) => ({ id, content: new Uint8Array(bytes) });

describe('the feedback parts of a request', () => {
  it('are accepted after a part that was refused as too large', () => {
    const parts = new FeedbackParts();
    expect(parts.add(part('large', 2_000_000))).toContain('at most 1000 feedback parts');
    expect(parts.add(part('small', 10))).toBeUndefined();
    expect(parts.all.map(({ id }) => id)).toEqual(['small']);
  });

  it('are refused beyond the bytes that accepted parts leave', () => {
    const parts = new FeedbackParts();
    expect(parts.add(part('first', 1_048_570))).toBeUndefined();
    expect(parts.add(part('second', 7))).toContain('of 1048576 bytes together');
    expect(parts.add(part('third', 6))).toBeUndefined();
  });
});
