// Properties of the codec. The tests beside the codec check them with few values, codec.slow.test.ts with many.
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import fc from 'fast-check';
import { expect } from 'vitest';
import { childRefs, type Blob } from '../../src/engine/codec/blob.ts';
import { CodecError } from '../../src/engine/codec/codec-error.ts';
import { RefCache } from '../../src/engine/codec/ref-cache.ts';
import { anyValue, assertSame, message, oddValue, testCodec as codec } from '../codec-values.ts';
import { joinWire } from '../../src/engine/codec/wire.ts';
import { WireTexts } from '../../src/engine/codec/wire-text.ts';

/** An in-memory blob space that checks what storage relies on. */
export class Space {
  readonly blobs = new Map<string, Blob>();

  put(value: unknown, cache?: RefCache): string {
    const { ref, blobs } = codec.split(value, cache);
    for (const blob of blobs) this.blobs.set(blob.hash, blob);
    return ref;
  }

  /** Reads the blobs that are reachable through `refs`, as SQL does. */
  get(ref: string, cache?: RefCache): unknown {
    const reached = new Map<string, Blob>();
    const open = codec.hashesOf(ref);
    for (let hash = open.pop(); hash !== undefined; hash = open.pop()) {
      const blob = this.blobs.get(hash);
      if (!blob || reached.has(hash)) continue;
      reached.set(hash, blob);
      open.push(...childRefs(blob));
    }
    return codec.join(ref, (hash) => reached.get(hash), cache);
  }

  /** Size of the payloads, plus 16 bytes per reference and 90 per row. */
  get bytes(): number {
    let sum = 0;
    for (const { payload, refs } of this.blobs.values()) {
      sum += 90 + Buffer.byteLength(payload ?? '') + 16 * (refs?.length ?? 0);
    }
    return sum;
  }
}

type Edit = {
  at: number;
  how: 'append' | 'insert' | 'remove' | 'replace' | 'mutate' | 'shuffle';
  value: unknown;
};

const edits = fc.array(
  fc.record({
    at: fc.nat(100),
    how: fc.constantFrom('append', 'append', 'append', 'insert', 'remove', 'replace', 'mutate', 'shuffle'),
    value: fc.oneof(
      message(anyValue),
      anyValue,
      fc.integer(),
      fc.string({ minLength: 60, maxLength: 90 }).map((text) => ({ text })),
    ),
  }) as fc.Arbitrary<Edit>,
  { maxLength: 40, size: 'max' },
);

const edit = (list: unknown[], { at, how, value }: Edit): unknown[] => {
  const index = list.length === 0 ? 0 : at % list.length;
  if (how === 'append') return [...list, value];
  if (how === 'insert') return list.toSpliced(index, 0, value);
  if (how === 'remove') return list.toSpliced(index, 1);
  if (how === 'replace') return list.toSpliced(index, 1, value);
  if (how === 'shuffle') return [...list.slice(index), ...list.slice(0, index)];
  const target = list[index];
  if (target instanceof AIMessage || target instanceof HumanMessage) {
    target.additional_kwargs = { ...target.additional_kwargs, at };
    Object.assign(target.response_metadata, { edited: at });
  } else if (
    typeof target === 'object' &&
    target !== null &&
    Object.getPrototypeOf(target) === Object.prototype
  ) {
    (target as Record<string, unknown>)[`key ${at % 3}`] = at;
  }
  return list;
};

const throwsOr = <T>(make: () => T): T | string => {
  try {
    return make();
  } catch (error) {
    return (error as Error).name;
  }
};

/** encode() and decode() restore any value. */
export const decodesValues = fc.property(anyValue, (value) =>
  assertSame(codec.decode(codec.encode(value)), value),
);

/** split() and join() restore any value. */
export const restoresValues = fc.property(anyValue, (value) => {
  const space = new Space();
  assertSame(space.get(space.put(value)), value);
});

/** split() and join() restore every state of a list that a graph edits and mutates in one session. */
export const restoresStates = fc.property(
  fc.array(fc.oneof(message(anyValue), anyValue), { maxLength: 30, size: 'max' }),
  edits,
  (start, steps) => {
    const space = new Space();
    const cache = new RefCache();
    const states: { ref: string; text: string }[] = [];
    let list = start;
    for (const step of steps) {
      list = edit(list, step);
      const ref = space.put(list, cache);
      states.push({ ref, text: codec.encode(list) });
      assertSame(space.get(ref), list);
      // Sometimes the graph gets the stored list, as after a resume.
      if (step.at % 5 === 0) list = space.get(ref, cache) as unknown[];
    }
    for (const { ref, text } of states) assertSame(space.get(ref), codec.decode(text));
  },
);

const shown = (value: unknown): unknown => JSON.parse(codec.toJson(value));

/** Clients get the same from storage as from the live value. */
export const readsStoredAsLive = fc.property(anyValue, (value) => {
  const { ref, blobs } = codec.split(value);
  const map = new Map(blobs.map((blob) => [blob.hash, blob]));
  const stored = throwsOr(
    () => JSON.parse(JSON.stringify(joinWire(ref, (hash) => map.get(hash))) ?? 'null') as unknown,
  );
  assertSame(
    stored,
    throwsOr(() => shown(codec.join(ref, (hash) => map.get(hash)))),
  );
  assertSame(
    stored,
    throwsOr(() => shown(value)),
  );
});

/** Whether the codec rejects the value. What it stores, clients get as JSON that they can send back. */
const isRejected = (value: unknown): boolean => {
  let split: ReturnType<typeof codec.split>;
  try {
    split = codec.split(value, undefined, 'values.x');
  } catch (error) {
    expect(error).toBeInstanceOf(CodecError);
    expect((error as CodecError).message).toMatch(/^values\.x.* (cannot be stored|levels deep)/s);
    return true;
  }
  const blobs = new Map(split.blobs.map((blob) => [blob.hash, blob]));
  const text = JSON.stringify(joinWire(split.ref, (hash) => blobs.get(hash))) ?? 'null';
  expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(JSON.parse(text))));
  return false;
};

/** Clients get JSON for every value that can be stored; other values are rejected before, which is at least one in twenty. */
export const expectJsonOrRejection = (numRuns: number): void => {
  let rejected = 0;
  const each = fc.property(oddValue, (value) => {
    if (isRejected(value)) rejected++;
  });
  fc.assert(each, { numRuns });
  expect(rejected).toBeGreaterThan(numRuns / 20);
};

const written = (texts: WireTexts, ref: string): string => {
  const pieces: string[] = [];
  texts.write(ref, (piece) => void pieces.push(piece));
  return pieces.join('');
};

const textOr = (make: () => string): string => {
  try {
    return make();
  } catch (error) {
    return (error as Error).name;
  }
};

const plainMessage = fc
  .tuple(fc.string({ maxLength: 400 }), fc.boolean())
  .map(([content, isHuman]) => (isHuman ? new HumanMessage({ content }) : new AIMessage({ content })));
const wireValues = fc.oneof(
  anyValue,
  fc.array(plainMessage, { maxLength: 40 }),
  fc.record({ messages: fc.array(plainMessage, { maxLength: 20 }), other: anyValue, last: plainMessage }),
);

/** The text of a stored value is that of its JSON value. */
export const writesTextOfJson = fc.property(wireValues, (value) => {
  const { ref, blobs } = codec.split(value);
  const map = new Map(blobs.map((blob) => [blob.hash, blob]));
  const texts = new WireTexts((hash) => map.get(hash));
  const expected = textOr(() => JSON.stringify(joinWire(ref, (hash) => map.get(hash))) ?? '');
  expect(textOr(() => written(texts, ref))).toBe(expected);
  // The second time from what the first has converted.
  expect(textOr(() => written(texts, ref))).toBe(expected);
});
