// Zstandard for request bodies, which Node supports only from version 22. This file reads the frame format (RFC 8878) block by block,
// so that sizes are checked before memory is allocated, and input and output are counted while the body arrives.
import { setImmediate as turn } from 'node:timers/promises';
import { Problem } from '@svc/contract/problem';
import { Decompress } from 'fzstd';
import { tooLarge } from './body.ts';

type Bytes = AsyncIterable<Uint8Array>;

/** Decoders need not support larger windows (RFC 8878, 3.1.1.1.2). The library allocates the whole window of each frame. */
const windowMax = 8_388_608;
/** No block is larger, compressed or not (RFC 8878, 3.1.1.2.4). */
const blockMax = 131_072;
/**
 * The library copies its whole window for every block. A body of many tiny blocks would cost far more than its size, so the copied
 * bytes are limited to this many for each byte that a body may have: blocks of 128 KB with the largest window cost 64.
 */
const movedPerByteMax = 128;
const frameMagic = 0xfd2fb528;
const skippableMagic = 0x184d2a5;
/** Decoding yields to other work of the event loop after this time. */
const sliceMs = 5;

const malformed = (cause?: unknown): Problem =>
  new Problem('bad_request', 'The body is not valid Zstandard, or it was cut off.', { cause });

/** The decoded body. Throws a Problem as soon as more than `bytesMax` has been decoded. */
export async function* unzstd(source: Bytes, bytesMax: number): Bytes {
  const input = new Input(source);
  let size = 0;
  let moved = 0;
  let frames = 0;
  let sliceEndsMs = performance.now() + sliceMs;
  while (await input.has(1)) {
    frames++;
    const head = await readHead(input);
    if (head === undefined) continue;
    const decoder = new ZstdFrameDecoder(head.bytes);
    for (let isLast = false; !isLast;) {
      const block = await readBlock(input, head);
      isLast = block.isLast;
      moved += head.window;
      if (moved > bytesMax * movedPerByteMax) throw tooManyBlocks();
      for (const chunk of decoder.push(block.bytes, isLast)) {
        size += chunk.length;
        if (size > bytesMax) throw tooLarge(bytesMax);
        yield chunk;
      }
      if (performance.now() < sliceEndsMs) continue;
      await turn();
      sliceEndsMs = performance.now() + sliceMs;
    }
  }
  if (frames === 0) throw malformed();
}

const tooManyBlocks = (): Problem =>
  new Problem(
    'too_large',
    'The body has too many Zstandard blocks for its size: compress it with fewer flushes.',
  );

/** The library's decoder for one frame. */
class ZstdFrameDecoder {
  readonly #decoded: Uint8Array[] = [];
  readonly #decoder = new Decompress((chunk) => {
    if (chunk.length > 0) this.#decoded.push(chunk);
  });

  constructor(head: Uint8Array) {
    this.#decoder.push(head, false);
  }

  push(block: Uint8Array, isLast: boolean): Uint8Array[] {
    try {
      this.#decoder.push(block, isLast);
    } catch (cause) {
      throw malformed(cause);
    }
    return this.#decoded.splice(0);
  }
}

interface FrameHead {
  bytes: Buffer;
  window: number;
  /** Bytes after the last block. */
  checksumBytes: number;
}

/** Undefined for a skippable frame, which is skipped. RFC 8878, 3.1.1.1 and 3.1.2. */
const readHead = async (input: Input): Promise<FrameHead | undefined> => {
  const magic = (await input.peek(4)).readUInt32LE(0);
  if (magic >>> 4 === skippableMagic) {
    const { length } = await input.take(8).then((head) => ({ length: head.readUInt32LE(4) }));
    await input.skip(length);
    return undefined;
  }
  if (magic !== frameMagic) throw malformed();
  const flags = (await input.peek(5)).readUInt8(4);
  const isSingle = (flags & 32) !== 0;
  const dictionaryBytes = [0, 1, 2, 4][flags & 3] ?? 0;
  const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][flags >>> 6] ?? 0;
  const sizeAt = 5 + (isSingle ? 0 : 1) + dictionaryBytes;
  const bytes = await input.take(sizeAt + sizeBytes);
  const window = isSingle ? contentSize(bytes, sizeAt, sizeBytes) : windowOf(bytes.readUInt8(5));
  if (window > windowMax) {
    throw new Problem(
      'too_large',
      `The body needs ${window} bytes of memory to be decompressed; at most ${windowMax} are allowed. Compress it with a smaller window.`,
    );
  }
  return { bytes, window, checksumBytes: (flags & 4) === 0 ? 0 : 4 };
};

const windowOf = (descriptor: number): number => {
  const base = 2 ** (10 + (descriptor >>> 3));
  return base + (base / 8) * (descriptor & 7);
};

const contentSize = (bytes: Buffer, at: number, sizeBytes: number): number => {
  if (sizeBytes === 8) return Number(bytes.readBigUInt64LE(at));
  return bytes.readUIntLE(at, sizeBytes) + (sizeBytes === 2 ? 256 : 0);
};

const rleBlock = 1;

/** A block with its header; the last one with the checksum that follows it. RFC 8878, 3.1.1.2. */
const readBlock = async (
  input: Input,
  { window, checksumBytes }: FrameHead,
): Promise<{ bytes: Buffer; isLast: boolean }> => {
  const head = (await input.peek(3)).readUIntLE(0, 3);
  const isLast = (head & 1) === 1;
  const size = head >>> 3;
  if (size > Math.min(blockMax, window)) throw malformed();
  const contentBytes = ((head >>> 1) & 3) === rleBlock ? 1 : size;
  return { bytes: await input.take(3 + contentBytes + (isLast ? checksumBytes : 0)), isLast };
};

/** Reads the bytes of the body in pieces of a given size. */
class Input {
  readonly #source: AsyncIterator<Uint8Array>;
  #chunks: Uint8Array[] = [];
  #size = 0;

  constructor(source: Bytes) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** True when at least `size` bytes are left. */
  async has(size: number): Promise<boolean> {
    while (this.#size < size) {
      const { done, value } = await this.#source.next();
      if (done === true) return false;
      if (value.length === 0) continue;
      this.#chunks.push(value);
      this.#size += value.length;
    }
    return true;
  }

  /** The next bytes, without removing them. */
  async peek(size: number): Promise<Buffer> {
    if (!(await this.has(size))) throw malformed();
    const [first] = this.#chunks;
    const whole = this.#chunks.length === 1 && first ? first : Buffer.concat(this.#chunks);
    this.#chunks = [whole];
    return Buffer.from(whole.buffer, whole.byteOffset, size);
  }

  async take(size: number): Promise<Buffer> {
    const bytes = await this.peek(size);
    this.#drop(size);
    return bytes;
  }

  async skip(size: number): Promise<void> {
    let left = size;
    while (left > 0) {
      if (!(await this.has(1))) throw malformed();
      const step = Math.min(left, this.#size);
      await this.take(step);
      left -= step;
    }
  }

  #drop(size: number): void {
    const [whole] = this.#chunks;
    this.#size -= size;
    this.#chunks = whole === undefined || this.#size === 0 ? [] : [whole.subarray(size)];
  }
}
