// Limits the size of responses of S3 and STS. They usually have a few hundred bytes, but the library reads any response to its end, so
// an endless one would fill the memory of the server.
import { Transform, type Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import type { STSClient } from '@aws-sdk/client-sts';

/** A list of a thousand multipart uploads fits. Objects are downloaded in ranges of this size. */
export const answerBytesMax = 4 * 1_024 ** 2;

class AnswerTooLong extends Error {
  override readonly name = 'AnswerTooLong';
}

export const limitAnswers = (client: S3Client | STSClient): void =>
  // The two client types differ only in their commands, which this function does not use.
  (client as S3Client).middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const response = result.response as { body?: Readable } | undefined;
      if (typeof response?.body?.pipe === 'function') response.body = cut(response.body);
      return result;
    },
    // The innermost step, which gets the response directly from the connection.
    { step: 'deserialize', priority: 'low', name: 'limitAnswers' },
  );

const cut = (body: Readable): Readable => {
  let bytes = 0;
  const limited = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes <= answerBytesMax) return done(null, chunk);
      body.destroy();
      done(new AnswerTooLong(`the response has more than ${answerBytesMax} bytes`));
    },
  });
  body.once('error', (error) => limited.destroy(error));
  const onClose = (): void => {
    if (!body.readableEnded)
      limited.destroy(
        Object.assign(new Error('the connection was closed before the end of the response'), {
          code: 'ECONNRESET',
        }),
      );
  };
  // A body that is already closed emits no further events.
  if (body.closed) onClose();
  else body.once('close', onClose);
  return body.pipe(limited);
};
