import type { IncomingMessage } from 'node:http';
import { invalid, Problem } from '@svc/contract/problem';
import type { HttpContext, RequestCall } from './call.ts';
import { parseStrictJson } from './strict-json.ts';

export interface BodyLimits {
  bytesMax: number;
  /** Of an upload, when it is no longer compressed. */
  uploadBytesMax: number;
  depthMax: number;
}

/** The JSON value of a request body; an absent body is `{}` where the route allows that. */
export const readJsonBody = async (
  context: HttpContext,
  call: RequestCall,
  limits: BodyLimits,
  optional: boolean,
): Promise<unknown> => {
  const bytes = await readBytes(context, call, limits.bytesMax);
  if (bytes.length === 0) {
    if (optional) return {};
    throw invalid(['body'], 'The request needs a JSON body.', 'missing');
  }
  // Anything but JSON is refused, whatever the bytes are: a browser sends text/plain across sites unasked.
  assertJsonType(call.header('content-type'));
  assertIdentity(call.header('content-encoding'));
  return parseStrictJson(bytes, limits.depthMax);
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
  throw new Problem('unsupported_media_type', 'A compressed body is not accepted; send it as it is.');
};

export const tooLarge = (bytesMax: number): Problem =>
  new Problem('too_large', `The request body is over the limit of ${bytesMax} bytes.`);

const readBytes = async (context: HttpContext, call: RequestCall, bytesMax: number): Promise<Buffer> => {
  const announced = Number(call.header('content-length') ?? 0);
  if (announced > bytesMax) throw tooLarge(bytesMax);
  const incoming = context.env?.incoming;
  if (incoming === undefined) return readWeb(context.req.raw, bytesMax);
  if (incoming.complete && incoming.readableLength === 0 && announced === 0) return Buffer.alloc(0);
  if (incoming.destroyed) throw cutOff();
  return readNode(incoming, bytesMax);
};

export const cutOff = (cause?: unknown): Problem =>
  new Problem('bad_request', 'The request body was cut off.', { cause });

const readNode = (incoming: IncomingMessage, bytesMax: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    incoming
      .on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size <= bytesMax) return void chunks.push(chunk);
        // What follows still flows, to nowhere.
        chunks.length = 0;
        reject(tooLarge(bytesMax));
      })
      .on('end', () => {
        resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
      })
      .on('error', (cause) => reject(cutOff(cause)))
      .on('close', () => {
        if (!incoming.complete) reject(cutOff());
      });
  });

const readWeb = async (request: Request, bytesMax: number): Promise<Buffer> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > bytesMax) throw tooLarge(bytesMax);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
};
