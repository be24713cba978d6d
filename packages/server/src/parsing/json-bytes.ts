// JSON text in UTF-8, in blocks. A large value as one string would be in memory twice more: as the string and as its bytes.
import { ByteBlocks, type Chunks } from './byte-blocks.ts';

export interface JsonBytes {
  blocks: Chunks;
  /** In bytes. */
  length: number;
}

/** A part of a JSON text. */
export type JsonPart = string | JsonBytes;

/** Characters that are encoded at once. */
const pieceMax = 65_536;
const encoder = new TextEncoder();

/** Collects a text that is written in pieces, as bytes. */
export const textBytes = (write: (add: (text: string) => void) => void): JsonBytes => {
  const bytes = new ByteBlocks();
  let piece = '';
  const flush = (): void => {
    bytes.add(encoder.encode(piece));
    piece = '';
  };
  write((text) => {
    piece += text;
    if (piece.length >= pieceMax) flush();
  });
  flush();
  return { blocks: bytes.take(), length: bytes.size };
};

/** Adds a text before and a text after the bytes. */
export const between = (before: string, { blocks, length }: JsonBytes, after: string): JsonBytes => {
  const [first, last] = [encoder.encode(before), encoder.encode(after)];
  return { blocks: [first, ...blocks, last], length: first.length + length + last.length };
};

export const textOf = (part: JsonPart): string =>
  typeof part === 'string' ? part : Buffer.concat(part.blocks).toString();
