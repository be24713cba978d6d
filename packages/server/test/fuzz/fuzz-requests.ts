// Requests that are generated from an OpenAPI document, most of them invalid.
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Random } from '../faults/random.ts';
import { hostileText, textOfValue, valueOf, type Schema, type ValueParts } from './schema-values.ts';

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  schema: Schema;
}

interface Operation {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, unknown>;
}

export interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

export interface FuzzRequest {
  operation: string;
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer | undefined;
  /** Statuses that the operation documents. */
  documented: ReadonlySet<number>;
}

/** Ids from earlier responses, by field name. */
export class KnownIds {
  readonly #byName = new Map<string, string[]>();

  pick(name: string, random: Random): string {
    const known = this.#byName.get(name) ?? [];
    return known.length > 0 && random.next() < 0.85 ? random.pick(known) : randomUUID();
  }

  collect(value: unknown, depth = 0): void {
    if (typeof value !== 'object' || value === null || depth > 4) return;
    if (Array.isArray(value)) {
      for (const one of value.slice(0, 5)) this.collect(one, depth + 1);
      return;
    }
    for (const [name, one] of Object.entries(value).slice(0, 50)) {
      if (typeof one === 'string' && one.length === 36 && /(?:^|_)id$/.test(name)) this.#add(name, one);
      else this.collect(one, depth + 1);
    }
  }

  #add(name: string, id: string): void {
    const known = this.#byName.get(name) ?? [];
    if (known.includes(id)) return;
    known.push(id);
    if (known.length > 20) known.shift();
    this.#byName.set(name, known);
  }
}

/** Names of path parameters, and the fields of responses that contain such ids. */
const namesOf: Record<string, string[]> = {
  session_id: ['session_id', 'project_id', 'id'],
  trace_id: ['trace_id', 'id'],
  destination_id: ['destination_id', 'id'],
  export_id: ['export_id', 'id'],
  price_id: ['id'],
  run_id: ['run_id', 'id'],
  assistant_id: ['assistant_id'],
};

/** Operations that would break the test, such as revoking its own key; they get unknown ids. */
const withUnknownIds = new Set(['revokeKey']);

export interface RequestParts {
  random: Random;
  ids: KnownIds;
  /** Headers that authenticate; some requests omit them. */
  credentials: Record<string, string>[];
}

interface Described {
  document: OpenApi;
  method: string;
  path: string;
  operation: Operation;
}

export const operationsOf = (document: OpenApi): Described[] =>
  Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ document, method, path, operation })),
  );

export const makeRequest = (
  { document, method, path, operation }: Described,
  { random, ids, credentials }: RequestParts,
): FuzzRequest => {
  const id = (name: string): string => {
    if (withUnknownIds.has(operation.operationId)) return randomUUID();
    if (name === 'assistant_id' && random.next() < 0.6) return 'chat';
    return ids.pick(random.pick(namesOf[name] ?? [name]), random);
  };
  const parts: ValueParts = {
    random,
    schemas: document.components.schemas,
    id,
    faults: random.pick([0, 0, 0.02, 0.1, 0.4]),
  };
  const of = (place: Parameter['in']): Parameter[] =>
    (operation.parameters ?? []).filter((parameter) => parameter.in === place);
  const target = of('path').reduce(
    (text, { name, schema }) => text.replace(`{${name}}`, pathValue(valueOf(schema, parts, name), random)),
    path,
  );
  const [type, content] = random.pick(Object.entries(operation.requestBody?.content ?? { '': undefined }));
  const body = content === undefined ? undefined : bodyOf(type, content.schema, parts);
  const made = {
    operation: operation.operationId,
    method: method.toUpperCase(),
    path: target + queryOf(of('query'), parts),
    headers: {
      ...(type === '' ? {} : { 'content-type': typeOf(type) }),
      ...(random.next() < 0.95 ? random.pick(credentials) : {}),
    },
    body: body === undefined ? undefined : Buffer.from(body),
    documented: new Set(Object.keys(operation.responses).map(Number)),
  };
  return random.next() < 0.35 ? withHostileHeaders(made, random) : made;
};

const pathValue = (value: unknown, random: Random): string => {
  const text = typeof value === 'string' ? value : textOfValue(value);
  // Unencoded, it may be an invalid path that the client would not send.
  const isPlain = /^[!-~]*$/.test(text) && !/[ ?#]/.test(text);
  const encoded = encodeURIComponent(Buffer.from(text).toString()).slice(0, 4_000);
  return isPlain && random.next() < 0.3 ? text.slice(0, 4_000) : encoded || '%20';
};

const queryOf = (parameters: Parameter[], parts: ValueParts): string => {
  const { random, faults } = parts;
  const pairs = parameters.flatMap(({ name, required, schema }) => {
    if (!required && random.next() < 0.5) return [];
    const count = random.next() < faults ? 3 : 1;
    return Array.from({ length: count }, () => {
      const value = valueOf(schema, parts, name);
      const values = Array.isArray(value) ? value.slice(0, 20) : [value];
      return values.map((one) => `${name}=${pathValue(one, random).replaceAll('&', '%26')}`).join('&');
    });
  });
  if (random.next() < faults)
    pairs.push(random.pick(['=', '%', '%ff=%fe', 'limit', 'a[b]=c', '\\', '&&', 'limit=%00']));
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
};

const boundary = 'fuzzBoundary';

const typeOf = (type: string): string =>
  type.startsWith('multipart/') ? `${type}; boundary=${boundary}` : type;

const bodyOf = (type: string, schema: Schema, parts: ValueParts): string | Buffer => {
  const { random, faults } = parts;
  if (type.startsWith('multipart/')) return multipartBody(parts);
  if (type.includes('protobuf'))
    return Buffer.from(Array.from({ length: random.between(0, 200) }, () => random.between(0, 255)));
  const text = textOfValue(valueOf(schema, parts));
  return random.next() < faults ? brokenText(text, random) : text;
};

const brokenText = (text: string, random: Random): string | Buffer =>
  random.pick<() => string | Buffer>([
    () => text.slice(0, random.between(0, text.length)),
    () => `${text}${text}`,
    () => `\ufeff${text}`,
    () => `${text}\u0000`,
    () => Buffer.concat([Buffer.from(text), Buffer.from([0xff, 0xfe, 0xc0])]),
    () => Buffer.from(text, 'utf16le'),
    () => '',
    () => ' '.repeat(10_000),
    () => `{"a":${'['.repeat(50_000)}`,
    () => hostileText(random),
  ])();

const multipartBody = (parts: ValueParts): Buffer => {
  const { random, id } = parts;
  const pieces: Buffer[] = [];
  for (let left = random.between(0, 4); left > 0; left--) {
    const run = id('id');
    const operation = random.pick(['post', 'patch', 'feedback', 'attachment', 'x']);
    const field = random.pick(['', '.inputs', '.outputs', '.events', '.a.b', '.\u0000']);
    const value =
      random.next() < 0.3 ? hostileText(random) : JSON.stringify({ id: run, trace_id: run, name: 'x' });
    const type = random.pick(['application/json', 'text/plain', 'application/json; length=3', 'x']);
    const length =
      random.next() < 0.2 ? `Content-Length: ${random.pick(['-1', '3', '99999999999', 'x'])}\r\n` : '';
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${operation}.${run}${field}"\r\nContent-Type: ${type}\r\n${length}\r\n`;
    pieces.push(Buffer.from(`${head}${value}\r\n`));
  }
  if (random.next() < 0.85) pieces.push(Buffer.from(`--${boundary}--\r\n`));
  return Buffer.concat(pieces);
};

type Change = (request: FuzzRequest, random: Random) => Partial<FuzzRequest>;

const header =
  (name: string, ...values: string[]): Change =>
  (request, random) => ({ headers: { ...request.headers, [name]: random.pick(values) } });

const encoded =
  (encoding: string, encode: (body: Buffer) => Buffer): Change =>
  (request) => ({
    headers: { ...request.headers, 'content-encoding': encoding },
    body: request.body && encode(request.body),
  });

/** A Zstandard frame with one uncompressed block. */
const zstdFrame = (body: Buffer): Buffer => {
  const block = body.subarray(0, 100_000);
  const head = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58, 0, 0, 0]);
  head.writeUIntLE(block.length * 8 + 1, 6, 3);
  return Buffer.concat([head, block]);
};

const hostileHeaders: Change[] = [
  header(
    'content-type',
    '',
    'text/plain',
    'application/json; charset=utf-7',
    'application/x-protobuf',
    'multipart/form-data',
    'a/b+json',
    '\u00ff',
  ),
  header('content-encoding', 'gzip', 'zstd', 'br', 'deflate', 'identity', 'gzip, gzip', 'x', ''),
  encoded('gzip', (body) => gzipSync(body)),
  encoded('zstd', (body) => zstdFrame(body)),
  encoded('gzip', (body) => gzipSync(body).subarray(0, -5)),
  encoded('gzip', (body) => gzipSync(Buffer.concat([body, Buffer.alloc(3_000_000, ' ')]))),
  encoded('zstd', (body) => Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), body])),
  header(
    'accept',
    '',
    '*/*;q=x',
    'text/html',
    'application/x-protobuf',
    'text/event-stream',
    'x'.repeat(3_000),
  ),
  header('accept-encoding', 'gzip;q=0', 'identity;q=0, *;q=0', 'x'),
  header('last-event-id', '-1', '0', '1e9', '999999999999999999999', 'x', '\u00ff', '-', '0-0'),
  header('idempotency-key', '', 'a', 'x'.repeat(5_000), '\u00ff'),
  header('prefer', 'return=minimal', 'x'),
  header('x-request-id', 'x'.repeat(3_000), '\u00ff', '"\\'),
  header('x-api-key', '', 'x', 'svc_'.padEnd(3_000, 'x'), '\u00ff'),
  header(
    'authorization',
    '',
    'Bearer',
    'Bearer  ',
    'Basic x',
    'Bearer \u00ff',
    `Bearer ${'x-'.repeat(2_500)}`,
  ),
  header('x-tenant-id', 'x', '00000000-0000-0000-0000-000000000000'),
  header('x-auth-scheme', 'langsmith', 'x'),
  header('origin', 'null', 'http://evil.example', 'x'),
  header('host', 'evil.example', '', '[::1]:x', 'localhost:1'),
  header('cookie', 'a=b; =; ;;', 'x'.repeat(4_000)),
  header('if-none-match', '*'),
  header('range', 'bytes=0-1', 'bytes=9-1'),
  header('x-forwarded-for', '1.2.3.4, x', '\u00ff'),
  header('traceparent', '00-x-y-01', 'x'),
  header('expect', '100-continue', 'x'),
  header('connection', 'close', 'upgrade'),
  header('upgrade', 'websocket', 'h2c'),
  (request, random) => ({
    method: random.pick(['OPTIONS', 'HEAD', 'TRACE', 'PURGE', 'DELETE', 'PUT', 'GET']),
    headers: request.headers,
  }),
  (request, random) => ({
    path: request.path + random.pick(['/', '//', '/..', '%2f', '/%00', ';a=b', '?', '?'.repeat(50)]),
  }),
  (request) => ({
    headers: {
      ...request.headers,
      ...Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`x-many-${at}`, 'x'])),
    },
  }),
];

const withHostileHeaders = (request: FuzzRequest, random: Random): FuzzRequest => {
  let changed = request;
  for (let left = random.between(1, 3); left > 0; left--)
    changed = { ...changed, ...random.pick(hostileHeaders)(changed, random) };
  return changed;
};
