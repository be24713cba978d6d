import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { textBytes } from '../../parsing/json-bytes.ts';
import { partsBody, writeParts } from './response-body.ts';
import { RawJson } from '../../api/handlers.ts';
import { createParsing } from '../../parsing/parsing.ts';
import { eventually } from '../../../test/eventually.ts';
import { startTestApp, ways } from '../../../test/http-app.ts';

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

const mb = 1_048_576;
/** Larger than the buffers of two sockets. */
const large = JSON.stringify('x'.repeat(32 * mb));

const start = async (stalledMs: number, customApp: (typeof ways)[number]['customApp']) => {
  const parsing = createParsing(64 * mb, { warn: () => undefined });
  const app = await startTestApp({ raw: () => new RawJson(large) }, { parsing, stalledMs, customApp });
  return { app, memory: parsing.memory };
};

describe.each(ways)('a large response$way', ({ customApp }) => {
  it('counts as memory until the client has read it', async () => {
    const { app, memory } = await start(60_000, customApp);
    await using _ = app;
    const socket = connect(app.port, app.host);
    socket.pause();
    socket.write('GET /raw HTTP/1.1\r\nhost: x\r\n\r\n');
    await eventually(() => expect(memory.used).toBeGreaterThanOrEqual(large.length));
    socket.resume();
    await eventually(() => expect(memory.used).toBe(0));
    socket.destroy();
  });

  it('that the client does not read is disconnected', async () => {
    const { app, memory } = await start(50, customApp);
    await using _ = app;
    const socket = connect(app.port, app.host).on('error', () => undefined);
    socket.pause();
    socket.write('GET /raw HTTP/1.1\r\nhost: x\r\n\r\n');
    await eventually(() => expect(memory.used).toBeGreaterThan(0));
    await eventually(() => expect(memory.used).toBe(0));
    let read = 0;
    await new Promise<void>((resolve) => {
      socket.on('data', (chunk) => (read += chunk.length)).on('close', () => resolve());
      socket.resume();
    });
    expect(read).toBeLessThan(large.length);
  });
});
