import { createRequire } from 'node:module';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toColumn, type Cell } from './column-array.ts';
import { type BindConfig, bindMessage, LongParameter, sendLongParameters } from './long-parameter.ts';

const { serialize } = createRequire(createRequire(import.meta.url).resolve('pg'))('pg-protocol') as {
  serialize: { bind(config: BindConfig): Buffer };
};

const joined = (value: unknown): unknown =>
  value instanceof LongParameter ? Buffer.concat(value.pieces) : value;

const bytes = fc.uint8Array({ maxLength: 20 }).map((list) => Buffer.from(list));
const long = fc.array(bytes, { maxLength: 4 }).map((pieces) => new LongParameter(pieces));
const value = fc.oneof(fc.constant(null), fc.string({ unit: 'binary' }), bytes, long);

describe('a long parameter', () => {
  it('is sent as the driver would send its bytes', () => {
    fc.assert(
      fc.property(fc.array(value), fc.string(), fc.boolean(), (values, name, binary) => {
        const statement = name.replaceAll('\0', '');
        const whole = serialize.bind({ statement, binary, values: values.map(joined) });
        expect(Buffer.concat(bindMessage({ statement, binary, values })).equals(whole)).toBe(true);
      }),
    );
  });

  it('is not copied, and a long text is encoded once', () => {
    const text = 'x'.repeat(65_537);
    const piece = Buffer.alloc(10);
    const sent: Uint8Array[] = [];
    const stream = { writable: true, write: (written: Uint8Array) => sent.push(written) > 0 };
    const connection = { stream, bind: () => expect.unreachable() };
    sendLongParameters({ connection });
    (connection as { bind(config: BindConfig): void }).bind({
      values: ['x', text, new LongParameter([piece])],
    });
    expect(sent).toContain(piece);
    expect(sent).toContainEqual(Buffer.from(text));
  });
});

describe('a column', () => {
  const sizes = fc.constantFrom(0, 3, 65_536, 65_537, 200_000);
  const cell: fc.Arbitrary<Cell> = fc.oneof(
    fc.constant(null),
    fc.string(),
    sizes.map((size) => Buffer.alloc(size, 'x')),
    sizes.map((size) => 'é'.repeat(size)),
  );
  /** The column as one buffer. */
  const whole = (cells: readonly Cell[]): Buffer => {
    const head = [1, cells.includes(null) ? 1 : 0, 25, cells.length, 1];
    const parts = cells.flatMap((one) => {
      const bytes = one === null ? undefined : Buffer.from(one as string);
      return [int32(bytes?.length ?? -1), bytes ?? Buffer.alloc(0)];
    });
    return Buffer.concat([...head.map(int32), ...parts]);
  };
  const int32 = (number: number): Buffer => {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32BE(number);
    return bytes;
  };

  it('has the same bytes whether its cells are copied or not', () => {
    fc.assert(
      fc.property(fc.array(cell, { maxLength: 6 }), (cells) => {
        expect((joined(toColumn(cells)) as Buffer).equals(whole(cells))).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});
