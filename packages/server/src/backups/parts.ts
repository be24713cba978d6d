// Cuts a stream into the parts of a multipart upload.
import type { Readable } from 'node:stream';

/** Parts of exactly `partBytes` bytes, and a last one with the rest. No part is empty. */
export async function* partsOf(content: Readable, partBytes: number): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of content as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    while (bytes >= partBytes) {
      const joined = Buffer.concat(chunks, bytes);
      yield joined.subarray(0, partBytes);
      // A copy: a view would keep the memory of the part.
      chunks = [Buffer.from(joined.subarray(partBytes))];
      bytes -= partBytes;
    }
  }
  if (bytes > 0) yield Buffer.concat(chunks, bytes);
}

/** The first part and the others, whose bytes are added to `sum`. */
export async function* startingWith(
  first: Buffer,
  rest: AsyncIterable<Buffer>,
  sum: { bytes: number },
): AsyncGenerator<Buffer> {
  sum.bytes += first.length;
  yield first;
  for await (const part of rest) {
    sum.bytes += part.length;
    yield part;
  }
}
