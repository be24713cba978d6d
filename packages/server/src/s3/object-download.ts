// Downloads an object in ranges. A range is in memory when it is returned, so a slow reader keeps no connection open, and a lost connection
// costs one range.
import { setTimeout as sleep } from 'node:timers/promises';
import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { onAbort } from '../abort.ts';
import { answerBytesMax } from './answer-limit.ts';
import { withDeadline } from './deadline.ts';

/** Ranges that are requested before they are needed. */
const aheadMax = 2;
/** Most attempts to read a range when the connection breaks during its body. The client itself repeats requests that get no response. */
const bodyTries = 5;
/** Doubles with each attempt. */
const pauseMs = 200;

export interface ObjectRequest {
  client: S3Client;
  bucket: string;
  /** The key with the prefix. */
  name: string;
  /** Time limit for one range. */
  callMs: number;
  signal: AbortSignal;
}

interface Range {
  body: Buffer;
  /** Of the whole object. */
  bytes: number;
  etag: string | undefined;
}

/** Throws the errors of the client, also when the object is replaced during the download. */
export async function* downloadObject(request: ObjectRequest): AsyncGenerator<Buffer> {
  const controller = new AbortController();
  const stopWaiting = onAbort(request.signal, () => controller.abort(request.signal.reason));
  const within = { ...request, signal: controller.signal };
  try {
    const first = await readRange(within, 0);
    if (first === undefined) return;
    yield first.body;
    const pending: Promise<Range | undefined>[] = [];
    let next = answerBytesMax;
    for (;;) {
      for (; pending.length < aheadMax && next < first.bytes; next += answerBytesMax) {
        const range = readRange(within, next, first.etag);
        range.catch(() => undefined); // thrown below, when it is the turn of the range
        pending.push(range);
      }
      const range = await pending.shift();
      if (range === undefined) return;
      yield range.body;
    }
  } finally {
    stopWaiting();
    controller.abort();
  }
}

/** Undefined when the object has no bytes from `start` on. */
const readRange = async (
  request: ObjectRequest,
  start: number,
  etag?: string,
): Promise<Range | undefined> => {
  for (let tries = 1; ; tries++) {
    const progress = { hasResponse: false };
    try {
      return await withDeadline(request.signal, request.callMs, (signal) =>
        requestRange({ ...request, signal }, { start, etag, progress }),
      );
    } catch (error) {
      if ((error as Error).name === 'InvalidRange') return undefined;
      if (request.signal.aborted || !progress.hasResponse || tries === bodyTries) throw error;
    }
    await sleep(pauseMs * 2 ** tries, undefined, { signal: request.signal });
  }
};

const requestRange = async (
  { client, bucket, name, signal }: ObjectRequest,
  { start, etag, progress }: { start: number; etag: string | undefined; progress: { hasResponse: boolean } },
): Promise<Range> => {
  const command = new GetObjectCommand({
    Bucket: bucket,
    Key: name,
    Range: `bytes=${start}-${start + answerBytesMax - 1}`,
    ...(etag === undefined ? {} : { IfMatch: etag }),
  });
  const found = await client.send(command, { abortSignal: signal });
  progress.hasResponse = true;
  const body = Buffer.from((await found.Body?.transformToByteArray()) ?? []);
  const bytes = Number(/\/(\d+)$/.exec(found.ContentRange ?? '')?.[1] ?? start + body.length);
  if (body.length !== Math.min(answerBytesMax, bytes - start))
    throw Object.assign(new Error('The response has fewer bytes than the range'), { code: 'ECONNRESET' });
  return { body, bytes, etag: found.ETag };
};
