import { describe, expect, it } from 'vitest';
import { BrokenFrame, clones, encodeFrame, FrameDecoder } from './process-channel.ts';

const messages = [
  { text: 'ü'.repeat(100) },
  null,
  undefined,
  new Map([[1, new Date(0)]]),
  Buffer.from('bytes'),
  'x',
];

describe('frames', () => {
  it('carry structured-clone values, however the bytes are split', () => {
    const bytes = Buffer.concat(messages.map(encodeFrame));
    for (const size of [1, 3, 7, 64, bytes.length]) {
      const decoder = new FrameDecoder(clones);
      const decoded: unknown[] = [];
      for (let at = 0; at < bytes.length; at += size)
        decoded.push(...decoder.push(bytes.subarray(at, at + size)));
      expect(decoded).toEqual(messages);
    }
  });

  it('with an impossible length or an invalid message are rejected', () => {
    expect(() => new FrameDecoder(clones).push(Buffer.from('garbage'))).toThrow(BrokenFrame);
    expect(() => new FrameDecoder(clones).push(Buffer.from([3, 0, 0, 0, 1, 2, 3]))).toThrow(BrokenFrame);
  });

  it('cannot be created from values that cannot be cloned', () => {
    expect(() => encodeFrame({ call: () => 1 })).toThrow(/could not be cloned/);
  });
});
