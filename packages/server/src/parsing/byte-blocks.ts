// Bytes of a body in buffers that can be transferred to another thread. Chunks of a socket or a decoder cannot be transferred, because
// their memory is reused.
import { freeMapped, mappedBytes } from './mapped-bytes.ts';

/** Bytes of a body, in order. */
export type Chunks = Uint8Array<ArrayBuffer>[];

const blockBytes = 1_048_576;

export class ByteBlocks {
  readonly #full: Chunks = [];
  #block = new Uint8Array(0);
  #used = 0;
  size = 0;

  add(chunk: Uint8Array): void {
    this.size += chunk.length;
    for (let at = 0; at < chunk.length;) {
      if (this.#used === this.#block.length) this.#open(chunk.length - at);
      const part = chunk.subarray(at, at + this.#block.length - this.#used);
      this.#block.set(part, this.#used);
      this.#used += part.length;
      at += part.length;
    }
  }

  /** Returns everything that was added. The caller owns the blocks. */
  take(): Chunks {
    const last = this.#block.subarray(0, this.#used);
    return last.length === 0 ? this.#full : [...this.#full, last];
  }

  /** The size of blocks grows with the body, so that a small body does not allocate a megabyte. */
  #open(wanted: number): void {
    if (this.#used > 0) this.#full.push(this.#block);
    this.#block = mappedBytes(Math.min(blockBytes, Math.max(wanted, this.size)));
    this.#used = 0;
  }
}

/** The buffers of chunks, for a transfer. */
export const buffersOf = (chunks: Chunks): ArrayBuffer[] => chunks.map(({ buffer }) => buffer);

/** Copies the chunks to buffers of their own. */
export const toBlocks = (chunks: Uint8Array[]): Chunks => {
  const blocks = new ByteBlocks();
  for (const chunk of chunks) blocks.add(chunk);
  return blocks.take();
};

/** The bytes of the chunks in one buffer. */
export const joined = (chunks: Chunks): Buffer<ArrayBuffer> => {
  const [only] = chunks;
  if (chunks.length === 1 && only) return Buffer.from(only.buffer, only.byteOffset, only.length);
  return join(chunks, () => undefined);
};

/** Like `joined`, but frees each chunk as soon as it is copied, so that the bytes are not in memory twice. */
export const moved = (chunks: Chunks): Buffer<ArrayBuffer> => join(chunks.splice(0), freeMapped);

const join = (chunks: Chunks, onCopied: (chunk: Chunks[number]) => void): Buffer<ArrayBuffer> => {
  const bytes = mappedBytes(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
    onCopied(chunk);
  }
  return Buffer.from(bytes.buffer);
};
