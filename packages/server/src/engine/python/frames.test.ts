import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { packageFile } from '../../config/package-files.ts';
import { BrokenFrame, FrameDecoder } from '../../jobs/process-channel.ts';
import { type FrameHeader, pythonFraming } from './frames.ts';

interface Vectors {
  frames: { header: FrameHeader; parts: string[]; hex: string }[];
  broken: { why: string; hex: string }[];
}

const vectors = JSON.parse(readFileSync(packageFile('test/vectors/frames.json'), 'utf8')) as Vectors;

test.each(vectors.frames)(
  'a frame of kind $header.kind has the bytes of the vector',
  ({ header, parts, hex }) => {
    expect(pythonFraming.encode({ header, parts }).toString('hex')).toBe(hex);
  },
);

test('frames are decoded from any pieces', () => {
  const bytes = Buffer.from(vectors.frames.map(({ hex }) => hex).join(''), 'hex');
  for (const size of [1, 7, bytes.length]) {
    const decoder = new FrameDecoder(pythonFraming);
    const decoded = [];
    for (let at = 0; at < bytes.length; at += size)
      for (const { header, parts } of decoder.push(bytes.subarray(at, at + size)))
        decoded.push({ header, parts: parts.map(String) });
    expect(decoded).toEqual(vectors.frames.map(({ header, parts }) => ({ header, parts })));
  }
});

test.each(vectors.broken)('$why is no frame', ({ hex }) => {
  expect(() => new FrameDecoder(pythonFraming).push(Buffer.from(hex, 'hex'))).toThrow(BrokenFrame);
});
