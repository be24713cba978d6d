// Bytes of a body that can be handed to another thread. Chunks of a socket or a decoder cannot: their memory is used again.

/** Bytes of a body, in the order in which they came. */
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

  /** Everything that was added. The blocks belong to the caller. */
  take(): Chunks {
    const last = this.#block.subarray(0, this.#used);
    return last.length === 0 ? this.#full : [...this.#full, last];
  }

  /** Blocks grow with the body: a small one takes no megabyte. */
  #open(wanted: number): void {
    if (this.#used > 0) this.#full.push(this.#block);
    this.#block = new Uint8Array(Math.min(blockBytes, Math.max(wanted, this.size)));
    this.#used = 0;
  }
}

/** The buffers of chunks that change hands. */
export const buffersOf = (chunks: Chunks): ArrayBuffer[] => chunks.map(({ buffer }) => buffer);

/** The chunks in memory of their own. */
export const toBlocks = (chunks: Uint8Array[]): Chunks => {
  const blocks = new ByteBlocks();
  for (const chunk of chunks) blocks.add(chunk);
  return blocks.take();
};
