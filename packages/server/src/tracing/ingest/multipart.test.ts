import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundaryOf, MultipartReader, type Part } from './multipart.ts';

const boundary = '----TestBoundary123';

const encode = (parts: Part[]): Buffer =>
  Buffer.concat([
    ...parts.flatMap(({ name, content_type, content }) => [
      Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n`),
      Buffer.from(`Content-Type: ${content_type}; length=${content.length}\r\n\r\n`),
      content,
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${boundary}--\r\n`),
  ]);

const read = (chunks: Uint8Array[]): { parts: Part[]; cut: string | undefined } => {
  const parts: Part[] = [];
  const reader = new MultipartReader(boundary, (part) => parts.push(part));
  for (const chunk of chunks) reader.push(chunk);
  return { parts, cut: reader.end() };
};

/** Includes bytes that look like boundaries. */
const contents = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
      fc
        .constantFrom('\r\n', '--', `\r\n--${boundary.slice(0, 10)}`, '\r', boundary, '\r\n\r\n')
        .map((text) => Buffer.from(text)),
    ),
    { maxLength: 8 },
  )
  .map((pieces) => Buffer.concat(pieces))
  .filter((bytes) => !Buffer.concat([Buffer.from('\r\n'), bytes]).includes(`\r\n--${boundary}`));

const partsOf = fc.array(
  fc.record({
    name: fc.stringMatching(/^[a-z.0-9-]{1,30}$/),
    content_type: fc.constantFrom('application/json', 'image/png'),
    announced: fc.constant(undefined),
    hasControls: fc.constant(false),
    content: contents,
  }),
  { maxLength: 5 },
);

const cutAt = (bytes: Buffer, places: number[]): Buffer[] => {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
};

describe('a multipart body', () => {
  it('is parsed to the parts that were written, for any chunks', () => {
    fc.assert(
      fc.property(partsOf, fc.array(fc.nat(), { maxLength: 10 }), (parts, places) => {
        const { parts: found, cut } = read(cutAt(encode(parts), places));
        expect(found).toEqual(parts);
        expect(cut).toBeUndefined();
      }),
      { numRuns: 500 },
    );
  });

  it('reports where it was cut off, after the complete parts', () => {
    const parts = ['a', 'b'].map((name) => ({
      name,
      content_type: 'text/plain',
      announced: undefined,
      hasControls: false,
      content: Buffer.from(name.repeat(50)),
    }));
    const bytes = encode(parts);
    for (let length = 0; length < bytes.length - 4; length++) {
      const { parts: found, cut } = read([bytes.subarray(0, length)]);
      expect(cut).toBeDefined();
      expect(found).toEqual(parts.slice(0, found.length));
      if (cut !== '') expect(cut).toBe(parts[found.length]?.name);
    }
  });

  it('may have text before the first boundary and after the last', () => {
    const body = `preamble\r\n--${boundary}  \r\nContent-Disposition: form-data; name="x"\r\n\r\n1\r\n--${boundary}--\r\nepilogue`;
    expect(read([Buffer.from(body)])).toEqual({
      parts: [
        { name: 'x', content_type: '', announced: undefined, hasControls: false, content: Buffer.from('1') },
      ],
      cut: undefined,
    });
  });

  it.each([
    ['a boundary with trailing characters', `--${boundary}x\r\n`],
    ['a part without a name', `--${boundary}\r\nContent-Type: text/plain\r\n\r\n1`],
    ['endless headers', `--${boundary}\r\n${'x'.repeat(10_000)}`],
  ])('with %s is rejected', (_, text) => {
    expect(() => read([Buffer.from(text)])).toThrow(/The multipart body has a/);
  });

  it('has its boundary in the content type', () => {
    expect(boundaryOf('multipart/form-data; boundary=abc')).toBe('abc');
    expect(boundaryOf('multipart/form-data; charset=x; boundary="a b;c"')).toBe('a b;c');
    expect(() => boundaryOf('multipart/form-data')).toThrow(/must have a boundary/);
  });
});
