// Node has no Zstandard before version 22. What decoder we use allocates what a frame asks for, so frames are looked at first.
import { setImmediate as turn } from 'node:timers/promises';
import { Problem } from '@svc/contract/problem';
import { Decompress } from 'fzstd';

/** Decoders need not support more (RFC 8878, 3.1.1.1.2). */
const windowMax = 8_388_608;
const frameMagic = 0xfd2fb528;
/** How much is decoded before others have their turn. */
const sliceBytes = 65_536;

const malformed = (cause?: unknown): Problem =>
  new Problem('bad_request', 'The body is not valid Zstandard, or it was cut off.', { cause });

/** What is compressed fits in memory; what comes out is the reader's to bound. */
export async function* unzstd(
  source: AsyncIterable<Uint8Array>,
  bytesMax: number,
): AsyncIterable<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  assertFrames(bytes, bytesMax);
  const decoded: Uint8Array[] = [];
  const decoder = new Decompress((chunk) => decoded.push(chunk.slice()));
  for (let at = 0; at < bytes.length; at += sliceBytes) {
    try {
      decoder.push(bytes.subarray(at, at + sliceBytes), at + sliceBytes >= bytes.length);
    } catch (cause) {
      throw malformed(cause);
    }
    yield* decoded.splice(0);
    await turn();
  }
}

/** Walks over all frames; throws when one would need too much memory, or does not end. */
const assertFrames = (bytes: Buffer, bytesMax: number): void => {
  let at = 0;
  try {
    while (at < bytes.length) {
      const magic = bytes.readUInt32LE(at);
      if (magic >>> 4 === 0x184d2a5) at += 8 + bytes.readUInt32LE(at + 4);
      else if (magic === frameMagic) at = afterFrame(bytes, at, bytesMax);
      else throw malformed();
    }
  } catch (cause) {
    throw cause instanceof Problem ? cause : malformed(cause);
  }
  if (at !== bytes.length || at === 0) throw malformed();
};

/** RFC 8878, 3.1.1. */
const afterFrame = (bytes: Buffer, start: number, bytesMax: number): number => {
  const flags = bytes.readUInt8(start + 4);
  const isSingle = (flags & 32) !== 0;
  const dictionaryBytes = [0, 1, 2, 4][flags & 3] ?? 0;
  const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][flags >>> 6] ?? 0;
  const descriptor = isSingle ? 0 : bytes.readUInt8(start + 5);
  let at = start + 5 + (isSingle ? 0 : 1) + dictionaryBytes;
  const base = 2 ** (10 + (descriptor >>> 3));
  const window = isSingle ? contentSize(bytes, at, sizeBytes) : base + (base / 8) * (descriptor & 7);
  if (window > (isSingle ? bytesMax : windowMax)) {
    throw new Problem('too_large', `The body needs ${window} bytes of memory to be decompressed.`);
  }
  at += sizeBytes;
  for (;;) {
    const head = bytes.readUIntLE(at, 3);
    const isRun = ((head >>> 1) & 3) === 1;
    at += 3 + (isRun ? 1 : head >>> 3);
    if ((head & 1) === 1) break;
  }
  return at + ((flags & 4) === 0 ? 0 : 4);
};

const contentSize = (bytes: Buffer, at: number, sizeBytes: number): number => {
  if (sizeBytes === 8) return Number(bytes.readBigUInt64LE(at));
  return bytes.readUIntLE(at, sizeBytes) + (sizeBytes === 2 ? 256 : 0);
};
