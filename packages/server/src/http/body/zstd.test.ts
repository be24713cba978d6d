import { describe, expect, it } from 'vitest';
import { unzstd } from './zstd.ts';

/** The output of zstd 1.5.4 -19 for the text below. */
const packed = Buffer.from(
  [
    'KLUv/WSvL1UZAAY7dRqQK8sBqzkOxf9Ccrs7HpJkkjLJZNL3d20AAn0AaQBnAI4ikvlbIzTaIwmif6Zmrmlk5OXIjPNGYuJ/qy6i',
    'clylSjm0Mtq6tGgSCWdVqUiMn8lCyqeUbxriZlyK9JQZF6Q/qd0xtDl1lCq6W4zorCm3NEKlsLgOwINDGBogIGA4wACBAgEGAwMU',
    'FiQwJBRYOCAcFhokLBwCBMJB4eAgrXSIXFtR6UtIJslqapCJfLhJOWRy+kUajzgeKXuhDDfSBk4M2w2LMeyGfcWu5nK00fZYxVob',
    'YhNrTGIrDTGK2H7XxXXyzFeyXDhfJ76Lq8Q8babWsBT5WjXqpjJNRdNxS2JSamz4oyIGwf2LKe9EnFV1rnBEY2zq0ZZDiJxgNVZh',
    'BG0RvC/1uu+hzckV+ZzvbHHxpYp3bWhT4VLqxaouynSWqewpjUulWIpmFx6dRVEWon+ophOyKSN60MxXU1to5DOcTmambOIx76tF',
    'JtU1pX+97vHo5JF+Lu9wNOXFV208qvCw9ZKqcmUib6ry1OTSsJYSs/TmEXmKKjH9RDWzki3Cc4b71CUeOQ1n1plFeL58i4qui0qd',
    'dkjIopQXUtGyojJW+cgo5UmIf9LUzDHJsC9lZCQ9CYJQqGKo7d3/DhLnqJI1EkgQqOAKeIL/20PLGozgtyYr8mxC6z4b0Z1csR0y',
    'iy4SY1gQ5hyWE7Aq5JSeQqUrJ6sIC2pZWOMAg2XBNRyOG2LPyIAYtXS6I7TSwTZaCAOBibxT8t+6pJNbOQQqbge01bJbkHW9NjmD',
    'ZULgkMSAxUFwZzhMaubR7/AS263x34q5zR1EEuFVYdtf24aoU63J2xwENa6x3Zq/rdmaqWYKCP4bnszaTcms21WTo3JEpVcmwY1z',
    'qExgcRqPT28fF9OuF+a57bkeW0BLaRoEBtrW4QJtgCGysFFaskOBtnWYQNuiSKANopj0U6djdCLrcmPiM7JzozNwHGfwGxoPkdSQ',
    'gNGN2bjouXiPGosY0TjRCyFaFncaopuSDWRhpd06RECJ/SaJNp8HeQLf8YcCkQOUWUgbWC8eZwVNho/D6AhrAAv8FSDcCrGz1iQ=',
  ].join(''),
  'base64',
);
const text = Array.from(
  { length: 300 },
  (_, i) => `${JSON.stringify({ i, text: `the quick brown fox ${(i * 7919) % 101}` })}\n`,
).join('');

const magic = [0x28, 0xb5, 0x2f, 0xfd];

async function* inChunks(bytes: Buffer, size: number): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size));
}

const unpack = async (bytes: Buffer, { size = 1_000, bytesMax = 1_000_000 } = {}): Promise<string> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of unzstd(inChunks(bytes, size), bytesMax)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};

/** A frame of uncompressed blocks. */
const rawFrame = (content: Buffer): Buffer => {
  const blocks: Buffer[] = [];
  for (let at = 0; at === 0 || at < content.length; at += 100_000) {
    const block = content.subarray(at, at + 100_000);
    const head = Buffer.alloc(3);
    head.writeUIntLE(block.length * 8 + (at + 100_000 >= content.length ? 1 : 0), 0, 3);
    blocks.push(head, block);
  }
  return Buffer.concat([Buffer.from([...magic, 0, 10 << 3]), ...blocks]);
};

describe('Zstandard', () => {
  it('is decompressed from any chunks', async () => {
    for (const size of [1, 7, 1_000]) expect(await unpack(packed, { size })).toBe(text);
  });

  it('may have several frames, and skippable frames', async () => {
    const skipped = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
    const raw = 'x'.repeat(250_000);
    expect(await unpack(Buffer.concat([packed, skipped, rawFrame(Buffer.from(raw)), packed]))).toBe(
      text + raw + text,
    );
  });

  it.each([
    ['empty', Buffer.alloc(0)],
    ['other text', Buffer.from('hello, this is no frame')],
    ['a frame that is cut off', packed.subarray(0, -20)],
    ['only the head of a frame', packed.subarray(0, 6)],
    ['a frame followed by other bytes', Buffer.concat([packed, Buffer.from('x')])],
    ['a broken block', Buffer.concat([packed.subarray(0, 12), Buffer.from('breakage'), packed.subarray(20)])],
  ])('is rejected when it is %s', async (_, bytes) => {
    await expect(unpack(bytes)).rejects.toThrow(/not valid Zstandard/);
  });

  it.each([
    ['a window of two gigabytes', [...magic, 0, 21 << 3, 1, 0, 0]],
    ['content of 16 MB as its window', [...magic, 0xa0, 0, 0, 0, 1, 1, 0, 0]],
    ['a window of 9 MB', [...magic, 0, (13 << 3) | 1, 1, 0, 0]],
    ['content of sixteen exabytes', [...magic, 0xe0, 255, 255, 255, 255, 255, 255, 255, 255, 1, 0, 0]],
  ])('is rejected when it needs %s of memory', async (_, bytes) => {
    await expect(unpack(Buffer.from(bytes))).rejects.toThrow(/bytes of memory/);
  });
});

/** A frame of `count` blocks that each repeat one byte: four bytes per block, for any decompressed size. */
const repeating = (count: number, size: number, windowLog: number): Buffer => {
  const block = Buffer.alloc(4, 'x');
  block.writeUIntLE(size * 8 + 2, 0, 3);
  const blocks = Buffer.alloc(4 * count, block);
  blocks.writeUInt8(blocks.readUInt8(4 * (count - 1)) | 1, 4 * (count - 1));
  return Buffer.concat([Buffer.from([...magic, 0, (windowLog - 10) << 3]), blocks]);
};

describe('hostile Zstandard', () => {
  it('is counted while it decompresses: nothing beyond the limit is decoded', async () => {
    let most = 0;
    const bomb = repeating(16_000, 131_072, 17);
    const read = async (): Promise<void> => {
      for await (const chunk of unzstd(inChunks(bomb, 65_536), 1_000_000))
        most = Math.max(most, chunk.length);
    };
    const before = process.memoryUsage().arrayBuffers;
    await expect(read()).rejects.toThrow(/over the limit of 1000000 bytes/);
    expect(most).toBe(131_072);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20_000_000);
  });

  it('is counted while it arrives: bytes after the limit are not read', async () => {
    const bomb = repeating(16_000, 131_072, 17);
    let sent = 0;
    const source = async function* (): AsyncIterable<Uint8Array> {
      for await (const chunk of inChunks(bomb, 100)) {
        sent += chunk.length;
        yield chunk;
      }
    };
    const read = async (): Promise<void> => {
      for await (const _ of unzstd(source(), 1_000_000));
    };
    await expect(read()).rejects.toThrow(/over the limit/);
    expect(sent).toBeLessThan(300);
  });

  it('is rejected when a block exceeds the maximum size', async () => {
    await expect(unpack(repeating(1, 2_000_000, 23), { bytesMax: 10_000_000 })).rejects.toThrow(
      /not valid Zstandard/,
    );
  });

  it('is rejected when it has more blocks than its size explains', async () => {
    await expect(unpack(repeating(250_000, 1, 23))).rejects.toThrow(/too many Zstandard blocks/);
  });
});
