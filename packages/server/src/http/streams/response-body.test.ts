import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { textBytes } from '../../parsing/json-bytes.ts';
import { partsBody, writeParts } from './response-body.ts';

const long = 'é😀'.repeat(400_000);
const parts = ['[', textBytes((add) => add(long)), ',', long, ']'];
const whole = `[${long},${long}]`;

describe('a long response', () => {
  it('is written to a stream part by part', async () => {
    const out = new PassThrough();
    writeParts(out, parts);
    expect((await buffer(out)).toString()).toBe(whole);
  });

  it('has pieces that middleware can pass to Web APIs', async () => {
    const read: Buffer[] = [];
    for await (const piece of partsBody(parts) as AsyncIterable<Uint8Array<ArrayBuffer>>)
      read.push(Buffer.from(await new Response(piece).arrayBuffer()));
    expect(Buffer.concat(read).toString()).toBe(whole);
  });
});
