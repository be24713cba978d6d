// Request bodies that cost more than their size suggests.
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';

const mb = 1_048_576;

export interface HostileBody {
  what: string;
  method?: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer;
  /** Number of requests that are sent at the same time. */
  times: number;
}

const json = { 'content-type': 'application/json' };

const empties = (count: number): string => `[${'{},'.repeat(count - 1)}{}]`;
const keys = (count: number): string =>
  `{${Array.from({ length: count }, (_, at) => `"k${at}":${at}`).join(',')}}`;
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
const padded = (text: string, bytes: number): string => text.replace('PAD', 'x'.repeat(bytes));

/** A Zstandard frame. Each of its blocks is four bytes and expands to 128 KB of one repeated byte. */
const zstdOf = (bytes: number): Buffer => {
  const size = 131_072;
  const count = Math.ceil(bytes / size);
  const blocks = Buffer.alloc(count * 4, 32);
  for (let at = 0; at < count; at++) blocks.writeUIntLE(size * 8 + 2 + (at === count - 1 ? 1 : 0), at * 4, 3);
  return Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38]), blocks]);
};

const traceRun = (more: object = {}): object => {
  const id = randomUUID();
  return {
    id,
    trace_id: id,
    dotted_order: `20261121T080000000000Z${id}`,
    name: 'x',
    run_type: 'chain',
    session_name: 'hostile',
    start_time: '2026-11-21T08:00:00Z',
    ...more,
  };
};

const multipart = (count: number, content: (at: number) => string): Buffer =>
  Buffer.from(
    `${Array.from({ length: count }, (_, at) => {
      const id = randomUUID();
      return `--B\r\nContent-Disposition: form-data; name="post.${id}${at % 2 ? '.inputs' : ''}"\r\nContent-Type: application/json\r\n\r\n${content(at)}\r\n`;
    }).join('')}--B--\r\n`,
  );

/** Bodies of the deployment API. Their size is within its limit of 20 MB. */
const deployment = (): HostileBody[] => {
  const run = (input: string): Buffer =>
    Buffer.from(`{"assistant_id":"one-node","after_seconds":3600,"input":${input}}`);
  const path = '/runs';
  const of = (what: string, body: Buffer, times: number): HostileBody => ({
    what,
    path,
    headers: json,
    body,
    times,
  });
  return [
    of('run: 20 MB of empty objects', run(empties(6_600_000)), 4),
    of('run: 20 MB of keys', run(keys(1_200_000)), 4),
    of('run: 20 MB of nested lists', run(nested(10_000_000)), 4),
    of('run: 199,000 values, accepted', run(empties(198_000)), 8),
    of('run: 49,000 keys, accepted', run(keys(49_000)), 8),
    of('run: a text of 19 MB, accepted', run(JSON.stringify('x'.repeat(19 * mb))), 8),
    of('run: a text of 6 MB of escapes, accepted', run(`"${'\\u0041'.repeat(3 * mb)}"`), 8),
    {
      ...of('thread: metadata of 20 MB', Buffer.from(padded('{"metadata":{"a":"PAD"}}', 19 * mb)), 4),
      path: '/threads',
    },
    {
      ...of('search by values of 20 MB', Buffer.from(`{"values":${keys(1_200_000)}}`), 4),
      path: '/threads/search',
    },
    {
      ...of(
        'store item of 19 MB',
        Buffer.from(padded('{"namespace":["a"],"key":"k","value":{"a":"PAD"}}', 19 * mb)),
        4,
      ),
      path: '/store/items',
      method: 'PUT',
    },
  ];
};

const platform = (key: string): HostileBody[] => {
  const headers = { ...json, 'x-api-key': key };
  const gzip = { ...headers, 'content-encoding': 'gzip' };
  const zstd = { ...headers, 'content-encoding': 'zstd' };
  const protobuf = { 'content-type': 'application/x-protobuf', 'x-api-key': key };
  const batch = '/api/v1/runs/batch';
  const otel = '/api/v1/otel/v1/traces';
  const form = { 'content-type': 'multipart/form-data; boundary=B', 'x-api-key': key };
  const inputs = (text: string): Buffer =>
    Buffer.from(JSON.stringify({ post: [traceRun({ inputs: 'HERE' })] }).replace('"HERE"', text));
  return [
    {
      what: 'batch: 37 kB of gzip, 12,000,000 objects',
      path: batch,
      headers: gzip,
      body: gzipSync(`{"a":${empties(12_000_000)}}`),
      times: 4,
    },
    {
      what: 'batch: 400 MB of zeros as gzip',
      path: batch,
      headers: gzip,
      body: gzipSync(Buffer.alloc(400 * mb, ' ')),
      times: 4,
    },
    { what: 'batch: 2 GB as 64 KB of zstd', path: batch, headers: zstd, body: zstdOf(2_000 * mb), times: 4 },
    {
      what: 'otlp: 2 GB as 64 KB of zstd',
      path: otel,
      headers: { ...protobuf, 'content-encoding': 'zstd' },
      body: zstdOf(2_000 * mb),
      times: 4,
    },
    {
      what: 'otlp: 36 MB of empty spans as gzip',
      path: otel,
      headers: { ...protobuf, 'content-encoding': 'gzip' },
      body: gzipSync(Buffer.alloc(36 * mb, Buffer.from([0x0a, 0x00]))),
      times: 4,
    },
    {
      what: 'otlp: 36 MB of nested lists, JSON',
      path: otel,
      headers: gzip,
      body: gzipSync(`{"resourceSpans":${nested(18_000_000)}}`),
      times: 4,
    },
    {
      what: 'multipart: 300,000 parts',
      path: '/api/v1/runs/multipart',
      headers: form,
      body: multipart(300_000, () => '{}'),
      times: 2,
    },
    {
      what: 'multipart: 50 parts of 20,000 keys',
      path: '/api/v1/runs/multipart',
      headers: form,
      body: multipart(50, () => keys(20_000)),
      times: 4,
    },
    {
      what: 'batch: 900,000 values, accepted',
      path: batch,
      headers: gzip,
      body: gzipSync(inputs(empties(900_000))),
      times: 4,
    },
    {
      what: 'batch: 36 MB in one payload, accepted',
      path: batch,
      headers: gzip,
      body: gzipSync(inputs(JSON.stringify({ a: 'x'.repeat(36 * mb) }))),
      times: 2,
    },
    {
      what: 'batch: 10,000 runs, accepted',
      path: batch,
      headers,
      body: Buffer.from(
        JSON.stringify({ post: Array.from({ length: 10_000 }, () => traceRun({ inputs: { a: 1 } })) }),
      ),
      times: 4,
    },
    {
      what: 'query: a filter of 64 KB',
      path: '/api/v1/runs/query',
      headers,
      body: Buffer.from(
        JSON.stringify({ filter: `${'and('.repeat(5_000)}eq(name, "x")${')'.repeat(5_000)}` }),
      ),
      times: 8,
    },
  ];
};

export const hostileBodies = (key: string): HostileBody[] => [...deployment(), ...platform(key)];
export { traceRun };
