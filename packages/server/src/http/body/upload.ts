// Bodies that are read while they arrive. Their size is limited before and after decompression.
import { createGunzip, createInflate, type Gunzip, type Inflate } from 'node:zlib';
import { pipeline } from 'node:stream/promises';
import { Problem } from '@svc/contract/problem';
import { bodyOf, tooLarge } from './body.ts';
import type { HttpContext, RequestCall } from '../routing/call.ts';
import { unzstd } from './zstd.ts';

type Bytes = AsyncIterable<Uint8Array>;

/** The decompressed body. Throws a Problem, at once or while it is read. */
export const openUpload = (
  context: HttpContext,
  call: RequestCall,
  types: readonly string[],
  bytesMax: number,
): Bytes => {
  const type = call.header('content-type')?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (!types.includes(type)) {
    throw new Problem('unsupported_media_type', `The body must have content type ${types.join(' or ')}.`);
  }
  if (Number(call.header('content-length') ?? 0) > bytesMax) throw tooLarge(bytesMax);
  const sent = bounded(bodyOf(context), bytesMax);
  const coding = call.header('content-encoding')?.trim().toLowerCase() ?? 'identity';
  switch (coding) {
    case 'identity':
      return sent;
    case 'gzip':
      return bounded(unzip(sent, createGunzip({ chunkSize }), coding), bytesMax);
    // Its format is that of zlib, and the OpenTelemetry Collector has a name for it.
    case 'deflate':
    case 'zlib':
      return bounded(unzip(sent, createInflate({ chunkSize }), coding), bytesMax);
    case 'zstd':
      return bounded(unzstd(sent, bytesMax), bytesMax);
    default:
      throw new Problem(
        'unsupported_media_type',
        'The content encoding must be gzip, deflate, zstd or identity.',
      );
  }
};

async function* bounded(source: Bytes, bytesMax: number): Bytes {
  let size = 0;
  for await (const chunk of source) {
    size += chunk.length;
    if (size > bytesMax) throw tooLarge(bytesMax);
    yield chunk;
  }
}

const chunkSize = 65_536;

async function* unzip(source: Bytes, stream: Gunzip | Inflate, coding: string): Bytes {
  let failure: unknown;
  const feeding = pipeline(source, stream).catch((error: unknown) => {
    failure = error;
  });
  try {
    for await (const chunk of stream) yield chunk as Buffer;
  } catch (cause) {
    await feeding;
    if (failure instanceof Problem) throw failure;
    throw new Problem('bad_request', `The body is not valid ${coding}, or it was cut off.`, { cause });
  }
}
