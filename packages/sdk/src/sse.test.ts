import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readEvents, type ServerEvent } from './sse.ts';

const bodyOf = (chunks: Uint8Array[]): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });

const collect = async (chunks: Uint8Array[]): Promise<ServerEvent[]> => {
  const events: ServerEvent[] = [];
  for await (const event of readEvents(bodyOf(chunks))) events.push(event);
  return events;
};

const encoder = new TextEncoder();
const parse = (...chunks: string[]): Promise<ServerEvent[]> =>
  collect(chunks.map((chunk) => encoder.encode(chunk)));

describe('readEvents', () => {
  it('yields id, name and data of an event', async () => {
    expect(await parse('id: 3\nevent: values\ndata: {"a":1}\n\n')).toEqual([
      { id: '3', event: 'values', data: '{"a":1}' },
    ]);
  });

  it('gives an event without an id the last id, and ignores comments', async () => {
    const events = await parse('id: 1\nevent: a\ndata: 1\n\n: heartbeat\nevent: b\ndata: 2\n\n');
    expect(events).toEqual([
      { id: '1', event: 'a', data: '1' },
      { id: '1', event: 'b', data: '2' },
    ]);
  });

  it('joins several data lines, and accepts every line ending', async () => {
    expect(await parse('data: one\r\ndata: two\r\n\r\n', 'data:three\n\n', 'data: four\r\rdata: x')).toEqual([
      { id: undefined, event: 'message', data: 'one\ntwo' },
      { id: undefined, event: 'message', data: 'three' },
      { id: undefined, event: 'message', data: 'four' },
    ]);
  });

  it('yields nothing for an event without data or without its blank line', async () => {
    expect(await parse('id: 1\nevent: a\n\n: heartbeat\n', 'data: incomplete\n')).toEqual([]);
  });

  it('yields the same events however the network splits the bytes', async () => {
    const field = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((text) => !/[\r\n\0]/.test(text));
    const event = fc.record({
      id: field,
      event: field.filter((name) => name !== ''),
      data: fc.array(field, { minLength: 1, maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(event, { maxLength: 5 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
        fc.constantFrom('\n', '\r\n'),
        async (events, cuts, end) => {
          const text = events
            .map(
              ({ id, event: name, data }) =>
                `id: ${id}${end}event: ${name}${end}${data.map((line) => `data: ${line}${end}`).join('')}: heartbeat${end}${end}`,
            )
            .join('');
          const bytes = encoder.encode(text);
          const pieces: Uint8Array[] = [];
          for (let at = 0; at < bytes.length;) {
            const length = cuts[pieces.length % cuts.length] ?? 1;
            pieces.push(bytes.subarray(at, at + length));
            at += length;
          }
          const expected = events.map((sent) => ({ ...sent, data: sent.data.join('\n') }));
          expect(await collect(pieces)).toEqual(expected);
        },
      ),
    );
  });
});
