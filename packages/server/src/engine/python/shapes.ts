// Reads the shapes of chunks and states (svc_executor/shapes.py). Values stay texts.
import type { StoredText } from '../codec/stored-text.ts';
import { setOwn } from '../codec/tagged.ts';
import { BrokenValue, type RunValues, textAt, type ValueSpec } from './run-values.ts';

export type Shape =
  | number
  | { s: string | boolean | null }
  | { j: unknown }
  | { o: [key: string, shape: Shape][] }
  | { a: Shape[] }
  | { v: [key: string, spec: ValueSpec] }
  | { m: number; of?: number };

export interface ShapeReader {
  parts: readonly Buffer[];
  values: RunValues;
  /** Metadata of messages by number. */
  metadata: Map<number, StoredText>;
}

export const readShape = (shape: Shape, reader: ShapeReader): unknown => {
  if (typeof shape === 'number') return textAt(reader.parts, shape);
  if ('s' in shape) return shape.s;
  if ('j' in shape) return shape.j;
  if ('a' in shape) return shape.a.map((one) => readShape(one, reader));
  if ('v' in shape) return reader.values.read(shape.v[0], shape.v[1], reader.parts);
  if ('m' in shape) return readMetadata(shape, reader);
  const object: Record<string, unknown> = {};
  for (const [key, member] of shape.o) setOwn(object, key, readShape(member, reader));
  return object;
};

const readMetadata = ({ m: number, of }: { m: number; of?: number }, reader: ShapeReader): StoredText => {
  if (of !== undefined) reader.metadata.set(number, textAt(reader.parts, of));
  const found = reader.metadata.get(number);
  if (!found) throw new BrokenValue(`the metadata ${number} of a message are missing`);
  return found;
};
