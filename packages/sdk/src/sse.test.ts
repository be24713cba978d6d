import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readEvents, SseParser, type ServerEvent } from './sse.ts';

const parse = (...chunks: string[]): ServerEvent[] => {
  const parser = new SseParser();
  return chunks.flatMap((chunk) => parser.push(chunk));
};

describe('server-sent events', () => {
  it('have an id, a name and data', () => {
    expect(parse('id: 3\nevent: values\ndata: {"a":1}\n\n')).toEqual([
      { id: '3', event: 'values', data: '{"a":1}' },
    ]);
  });

  it('keep the last id, and ignore comments', () => {
    const events = parse('id: 1\nevent: a\ndata: 1\n\n: heartbeat\nevent: b\ndata: 2\n\n');
    expect(events).toEqual([
      { id: '1', event: 'a', data: '1' },
      { id: '1', event: 'b', data: '2' },
    ]);
  });

  it('may have several lines of data, and any line endings', () => {
    expect(parse('data: one\r\ndata: two\r\n\r\n', 'data:three\n\n')).toEqual([
      { id: undefined, event: 'message', data: 'one\ntwo' },
      { id: undefined, event: 'message', data: 'three' },
    ]);
  });

  it('without data are ignored', () => {
    expect(parse('id: 1\nevent: a\n\n: heartbeat\n')).toEqual([]);
  });

  it('do not depend on how the network splits the bytes', async () => {
    const field = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((text) => !/[\r\n\0]/.test(text));
    const event = fc.record({
      id: field,
      event: field.filter((name) => name !== ''),
      data: fc.array(field, { minLength: 1, maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(event, { maxLength: 5 }),
        fc.array(fc.integer({ min: 1, max: 40 })),
        fc.constantFrom('\n', '\r\n'),
        async (events, cuts, end) => {
          const text = events
            .map(
              ({ id, event: name, data }) =>
                `id: ${id}${end}event: ${name}${end}${data.map((line) => `data: ${line}${end}`).join('')}: heartbeat${end}${end}`,
            )
            .join('');
          const whole = parse(text);
          expect(whole).toHaveLength(events.length);
          const bytes = new TextEncoder().encode(text);
          let position = 0;
          const body = new ReadableStream<Uint8Array>({
            pull(controller) {
              if (position >= bytes.length) return controller.close();
              const next = position + (cuts.length > 0 ? (cuts[position % cuts.length] ?? 7) : 7);
              controller.enqueue(bytes.subarray(position, next));
              position = next;
            },
          });
          const pieces: ServerEvent[] = [];
          for await (const one of readEvents(body)) pieces.push(one);
          expect(pieces).toEqual(whole);
        },
      ),
    );
  });
});
