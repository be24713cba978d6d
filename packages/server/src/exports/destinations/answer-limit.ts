// A service answers what we ask with a few hundred bytes. A library reads an answer to its end, so one without an end
// would fill the memory of the server.
import { Transform, type Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import type { STSClient } from '@aws-sdk/client-sts';

/** A list of a thousand uploads fits. */
const bytesMax = 4 * 1_024 ** 2;

class AnswerTooLong extends Error {
  override readonly name = 'AnswerTooLong';
}

/** For clients that get no objects. */
export const limitAnswers = (client: S3Client | STSClient): void =>
  // The two differ in what commands hold, which is not looked at here.
  (client as S3Client).middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const response = result.response as { body?: Readable } | undefined;
      if (typeof response?.body?.pipe === 'function') response.body = cut(response.body);
      return result;
    },
    // The innermost: what comes straight from the connection.
    { step: 'deserialize', priority: 'low', name: 'limitAnswers' },
  );

const cut = (body: Readable): Readable => {
  let bytes = 0;
  const limited = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes <= bytesMax) return done(null, chunk);
      body.destroy();
      done(new AnswerTooLong(`more than ${bytesMax} bytes`));
    },
  });
  body.once('error', (error) => limited.destroy(error));
  const onClose = (): void => {
    if (!body.readableEnded) limited.destroy(Object.assign(new Error('cut off'), { code: 'ECONNRESET' }));
  };
  // A body that is closed already emits no more events.
  if (body.closed) onClose();
  else body.once('close', onClose);
  return body.pipe(limited);
};
