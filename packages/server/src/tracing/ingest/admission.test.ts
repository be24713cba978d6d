import { describe, expect, it } from 'vitest';
import { Admission } from './admission.ts';

const limits = { bytesMax: 100, writersMax: 2, waitingMax: 2 };

async function* bytes(...sizes: number[]): AsyncIterable<Uint8Array> {
  for (const size of sizes) yield await Promise.resolve(new Uint8Array(size));
}

const readAll = async (body: AsyncIterable<Uint8Array>): Promise<number> => {
  let size = 0;
  for await (const chunk of body) size += chunk.length;
  return size;
};

/** Work that lasts until the test ends it. */
const held = () => {
  let end = (): void => undefined;
  const promise = new Promise<void>((resolve) => (end = resolve));
  return { promise, end: () => end() };
};

describe('admission', () => {
  it('admits one body of any size, and others when there is room', async () => {
    const admission = new Admission(limits);
    expect(await admission.admit(bytes(500, 500), readAll)).toBe(1_000);
    const hold = held();
    const first = admission.admit(bytes(80), async (body) => {
      await readAll(body);
      await hold.promise;
    });
    await expect(admission.admit(bytes(10, 30), readAll)).rejects.toMatchObject({ code: 'rate_limited' });
    expect(await admission.admit(bytes(20), readAll)).toBe(20);
    hold.end();
    await first;
    expect(await admission.admit(bytes(60, 60), readAll)).toBe(120);
  });

  it('releases the share of failed bodies', async () => {
    const admission = new Admission(limits);
    const fails = admission.admit(bytes(90), async (body) => {
      await readAll(body);
      throw new Error('no');
    });
    await expect(fails).rejects.toThrow('no');
    const hold = held();
    const first = admission.admit(bytes(90), async (body) => {
      await readAll(body);
      await hold.promise;
    });
    expect(await admission.admit(bytes(10), readAll)).toBe(10);
    hold.end();
    await first;
  });

  it('limits concurrent writers, keeps their order, and rejects when too many wait', async () => {
    const admission = new Admission(limits);
    const holds = Array.from({ length: 4 }, held);
    const begun: number[] = [];
    const writes = holds.map(({ promise }, index) =>
      admission.write(() => {
        begun.push(index);
        return promise;
      }),
    );
    await Promise.resolve();
    expect(begun).toEqual([0, 1]);
    await expect(admission.admit(bytes(1), readAll)).rejects.toMatchObject({ code: 'rate_limited' });
    holds[1]?.end();
    await writes[1];
    expect(begun).toEqual([0, 1, 2]);
    expect(await admission.admit(bytes(1), readAll)).toBe(1);
    for (const { end } of holds) end();
    await Promise.all(writes);
    expect(begun).toEqual([0, 1, 2, 3]);
  });
});
