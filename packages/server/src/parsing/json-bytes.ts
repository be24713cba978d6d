// JSON text in UTF-8, in blocks. A large value as one string would be in memory twice more: as the string and as its bytes.
import { ByteBlocks, type Chunks } from './byte-blocks.ts';

export interface JsonBytes {
  blocks: Chunks;
  /** In bytes. */
  length: number;
}

/** A part of a JSON text. */
export type JsonPart = string | JsonBytes;

/** Objects and lists at this depth are encoded as one string each. */
const depthMax = 3;
const encoder = new TextEncoder();

/** The bytes of the JSON.stringify() text of plain values. */
export const toJsonBytes = (value: unknown): JsonBytes => {
  const bytes = new ByteBlocks();
  const add = (text: string): void => bytes.add(encoder.encode(text));
  const write = (part: unknown, depth: number): void => {
    if (typeof part !== 'object' || part === null || depth === depthMax)
      return add(JSON.stringify(part) ?? 'null');
    const isList = Array.isArray(part);
    add(isList ? '[' : '{');
    let isFirst = true;
    for (const [key, inner] of Object.entries(part)) {
      if (!isList && inner === undefined) continue;
      add(`${isFirst ? '' : ','}${isList ? '' : `${JSON.stringify(key)}:`}`);
      write(inner, depth + 1);
      isFirst = false;
    }
    add(isList ? ']' : '}');
  };
  write(value, 0);
  return { blocks: bytes.take(), length: bytes.size };
};

/** Adds a text before and a text after the bytes. */
export const between = (before: string, { blocks, length }: JsonBytes, after: string): JsonBytes => {
  const [first, last] = [encoder.encode(before), encoder.encode(after)];
  return { blocks: [first, ...blocks, last], length: first.length + length + last.length };
};

export const textOf = (part: JsonPart): string =>
  typeof part === 'string' ? part : Buffer.concat(part.blocks).toString();
