// Reads JSON bodies within a limit of bytes. Large bodies count as memory while their request is handled, and are parsed in a parser
// thread; small ones are parsed here.
import type { IncomingMessage } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { invalid, Problem } from '@svc/contract/problem';
import { JsonText } from '../../api/json-text.ts';
import { buffersOf, ByteBlocks, toBlocks } from '../../parsing/byte-blocks.ts';
import { BudgetExceeded, inlineBytesMax, inlineLimits, type JsonLimits } from '../../json/json-limits.ts';
import type { Parsing } from '../../parsing/parsing.ts';
import type { HttpContext, RequestCall } from '../routing/call.ts';
import { parseStrictJson } from '../../json/strict-json.ts';

export interface BodyLimits {
  bytesMax: number;
  /** Bytes of an upload after decompression. */
  uploadBytesMax: number;
  json: JsonLimits;
}

export interface BodyShape {
  bodyOptional?: boolean;
  textFields?: readonly string[];
  anyText?: readonly string[];
}

/** Smaller bodies are parsed at once, and are not counted as memory. */
export const smallBytesMax = 65_536;

/** The JSON value of a request body; an absent body is `{}` where the route allows that. */
export const readJsonBody = async (
  context: HttpContext,
  call: RequestCall,
  options: BodyLimits & Parsing,
  shape: BodyShape,
): Promise<unknown> => {
  const chunks = await readChunks(context, call, options);
  if (chunks.length === 0) {
    if (shape.bodyOptional === true) return {};
    throw invalid(['body'], 'The request needs a JSON body.', 'missing');
  }
  // Other content types are rejected, whatever the bytes are: a browser sends text/plain to other sites without a preflight.
  assertJsonType(call.header('content-type'));
  assertIdentity(call.header('content-encoding'));
  return parseBody(chunks, options, shape);
};

export const parseBody = async (
  chunks: Uint8Array[],
  { json, parser, turns }: BodyLimits & Parsing,
  { textFields = [], anyText = [] }: Pick<BodyShape, 'textFields' | 'anyText'>,
): Promise<unknown> => {
  const size = chunks.reduce((sum, { length }) => sum + length, 0);
  if (size <= inlineBytesMax) {
    if (size > smallBytesMax) await turns.next();
    try {
      const [only] = chunks;
      const whole = chunks.length === 1 && only instanceof Buffer ? only : Buffer.concat(chunks);
      return parseStrictJson(whole, inlineLimits(json), anyText);
    } catch (error) {
      if (!(error instanceof BudgetExceeded)) throw error;
    }
  }
  const blocks = toBlocks(chunks);
  const input = { chunks: blocks, limits: json, textFields, anyText };
  const parsed = await parser.run('json', input, buffersOf(blocks));
  // Receiving the output has blocked the event loop. Further work is done in the next turn.
  await turn();
  const value = parsed.json === undefined ? parsed.value : (JSON.parse(parsed.json) as unknown);
  if (parsed.json !== undefined) await turn();
  for (const [name, text] of Object.entries(parsed.texts))
    (value as Record<string, unknown>)[name] = new JsonText(text);
  return value;
};

const jsonType = /^application\/(?:json|[a-z0-9!#$&^_.+-]+\+json)$/;

const assertJsonType = (header: string | undefined): void => {
  const type = header?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === 'application/json' || jsonType.test(type)) return;
  const sent = type === '' ? 'none' : JSON.stringify(type.slice(0, 100));
  throw new Problem(
    'unsupported_media_type',
    `The body must have content type application/json, not ${sent}.`,
  );
};

const assertIdentity = (encoding: string | undefined): void => {
  if (encoding === undefined || encoding.trim().toLowerCase() === 'identity') return;
  throw new Problem(
    'unsupported_media_type',
    'This route does not accept a compressed body; send it uncompressed.',
  );
};

export const tooLarge = (bytesMax: number): Problem =>
  new Problem('too_large', `The request body is over the limit of ${bytesMax} bytes.`);

/** A large body is in memory several times: as received, as text, as values, and on its way to the database. */
const copies = 4;
const copiedBytesMin = 1_048_576;
export const memoryOf = (bytes: number): number => (bytes > copiedBytesMin ? bytes * copies : bytes);

const readChunks = async (
  context: HttpContext,
  call: RequestCall,
  { bytesMax, memory }: BodyLimits & Parsing,
): Promise<Uint8Array[]> => {
  const announced = Number(call.header('content-length') ?? 0);
  if (announced > bytesMax) throw tooLarge(bytesMax);
  const { incoming } = unread(context);
  if (incoming && announced > 0 && announced <= smallBytesMax) return readSmall(incoming);
  const blocks = new ByteBlocks();
  if (incoming?.complete === true && incoming.readableLength === 0 && announced === 0) return [];
  const hold = async (bytes: number): Promise<() => void> => {
    const releaseHeld = await memory.hold(memoryOf(bytes));
    call.onFinish(releaseHeld);
    return releaseHeld;
  };
  let release = announced > smallBytesMax ? await hold(announced) : undefined;
  for await (const chunk of bodyOf(context)) {
    blocks.add(chunk);
    if (blocks.size > bytesMax) throw tooLarge(bytesMax);
    // No length was sent, or middleware has replaced the body by a larger one.
    if (blocks.size > smallBytesMax) release ??= await hold(bytesMax);
  }
  if (release !== undefined && blocks.size !== announced) {
    // The request may be handled for long, such as a stream: it holds only what its body needs.
    call.onFinish(memory.count(memoryOf(blocks.size)));
    release();
  }
  return blocks.take();
};

/** Node's request. Undefined when another part of the program has read its body. */
const unread = ({ env }: HttpContext): { incoming?: IncomingMessage | undefined; read?: Uint8Array } => {
  const read = env?.outer?.body;
  return read === undefined ? { incoming: env?.incoming as IncomingMessage | undefined } : { read };
};

/** A faster way for most bodies. Node delivers no more bytes than were announced. */
const readSmall = (incoming: IncomingMessage): Promise<Uint8Array[]> =>
  new Promise((resolve, reject) => {
    if (incoming.destroyed) return reject(cutOff());
    const chunks: Buffer[] = [];
    incoming
      .on('data', (chunk: Buffer) => void chunks.push(chunk))
      .on('end', () => resolve(chunks))
      .on('error', (cause) => reject(cutOff(cause)))
      .on('close', () => {
        if (!incoming.complete) reject(cutOff());
      });
  });

/** The bytes of a body as they arrive. The connection stays open when the caller stops reading early, so that it can respond. */
export async function* bodyOf(context: HttpContext): AsyncIterable<Uint8Array> {
  const { incoming, read } = unread(context);
  if (read !== undefined) return yield read;
  if (incoming === undefined) {
    try {
      for await (const chunk of (context.req.raw.body ?? []) as AsyncIterable<Uint8Array>) yield chunk;
    } catch (cause) {
      throw cause instanceof Problem ? cause : cutOff(cause);
    }
    return;
  }
  if (incoming.destroyed) throw cutOff();
  try {
    for await (const chunk of incoming.iterator({ destroyOnReturn: false })) yield chunk as Buffer;
  } catch (cause) {
    throw cutOff(cause);
  }
  if (!incoming.complete) throw cutOff();
}

const cutOff = (cause?: unknown): Problem =>
  new Problem('bad_request', 'The request body was cut off.', { cause });
