// Bodies up to the default limits of a batch of traces, and beyond them.
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { describe, expect, it } from 'vitest';
import { end, multipartType, part } from './multipart.ts';
import { startPlatform, type PlatformServer } from './platform-server.ts';
import { fixture } from '../fixture.ts';
import { sentRun } from './trace-write.ts';

const platform = fixture(() => startPlatform());

const send = (
  path: string,
  type: string,
  body: Buffer,
  headers: Record<string, string> = {},
): ReturnType<PlatformServer['call']> =>
  platform.call('POST', path, { body, headers: { 'content-type': type, ...headers } });

/** A length-delimited field, as protobuf encodes it. */
const field = (number: number, bytes: Uint8Array): Uint8Array =>
  new BinaryWriter().tag(number, WireType.LengthDelimited).bytes(bytes).finish();

const gzipped = { 'content-encoding': 'gzip' };
const tooLarge = { status: 413, body: { code: 'too_large' } };
const expectServing = async (): Promise<void> =>
  expect(await platform.call('GET', '/info', { key: null })).toMatchObject({ status: 200 });

it('a run has up to 30 MB of inputs', async () => {
  const id = randomUUID();
  const inputs = { text: 'x'.repeat(30_000_000) };
  const parts = [
    part(`post.${id}`, JSON.stringify(sentRun(id))),
    part(`post.${id}.inputs`, JSON.stringify(inputs)),
  ];
  const { status } = await send('/runs/multipart', multipartType, Buffer.concat([...parts, end]));
  expect(status).toBe(202);
  const { body } = await platform.call('GET', `/runs/${id}`);
  expect((body as { inputs: { text: string } }).inputs.text).toHaveLength(30_000_000);
});

it('three of 1,003 parts with feedback are rejected', async () => {
  const run_id = randomUUID();
  const parts = Array.from({ length: 1_003 }, () =>
    part(`feedback.${randomUUID()}`, JSON.stringify({ run_id, key: 'k' }), 'application/json'),
  );
  const { status, body } = await send('/runs/multipart', multipartType, Buffer.concat([...parts, end]));
  expect([status, (body as { errors: unknown[] }).errors.length]).toEqual([202, 3]);
});

describe('a body is rejected, and the server keeps serving', () => {
  it('when it is a gzip of 37 kB that unpacks to twelve million objects', async () => {
    const bomb = gzipSync(`{"a":[${'{},'.repeat(11_999_999)}{}]}`);
    expect(bomb.length).toBeLessThan(48_000);
    const answer = await send('/runs/batch', 'application/json', bomb, gzipped);
    expect(answer).toMatchObject(tooLarge);
    expect((answer.body as { message: string }).message).toContain('more than 1000000 JSON values');
    await expectServing();
  });

  it('when many parts together have 600,000 keys', async () => {
    const keys = `{${Array.from({ length: 200_000 }, (_, at) => `"k${at}":1`).join(',')}}`;
    const parts = Array.from({ length: 3 }, () => randomUUID()).flatMap((id) => [
      part(`post.${id}`, JSON.stringify(sentRun(id))),
      part(`post.${id}.outputs`, keys),
    ]);
    const answer = await send('/runs/multipart', multipartType, Buffer.concat([...parts, end]));
    expect(answer).toMatchObject(tooLarge);
    expect((answer.body as { message: string }).message).toContain('more than 500000 JSON keys');
    await expectServing();
  });

  it('when it is a gzip of multipart that unpacks to 200 MB', async () => {
    const bomb = gzipSync(Buffer.alloc(200_000_000));
    expect(bomb.length).toBeLessThan(1_000_000);
    expect(await send('/runs/multipart', multipartType, bomb, gzipped)).toMatchObject(tooLarge);
    await expectServing();
  });

  it('when it has 42 MB', async () => {
    expect(await send('/runs/multipart', multipartType, Buffer.alloc(42_000_000))).toMatchObject(tooLarge);
    await expectServing();
  });

  it('when it is OTLP that expands to many values or bytes', async () => {
    const sendOtlp = (body: Buffer, headers: Record<string, string> = {}) =>
      send('/otel/v1/traces', 'application/x-protobuf', body, headers);
    const bombOf = (attributes: Buffer): Buffer => Buffer.from(field(1, field(2, field(2, attributes))));
    const valued = field(9, new Uint8Array([18, 0]));
    expect(await sendOtlp(bombOf(Buffer.alloc(600_000 * valued.length, valued)))).toMatchObject(tooLarge);
    const bomb = bombOf(Buffer.alloc(3_000_000, field(9, Buffer.alloc(0))));
    expect(await sendOtlp(gzipSync(bomb), gzipped)).toMatchObject({ status: 413 });
    expect(await sendOtlp(gzipSync(Buffer.alloc(100_000_000)), gzipped)).toMatchObject({ status: 413 });
    expect(await sendOtlp(Buffer.alloc(42_000_000))).toMatchObject({ status: 413 });
    await expectServing();
  });
});
