// Repeats requests during an outage of the service or the network, after the client has given up: its own attempts end within seconds.
import { setTimeout as sleep } from 'node:timers/promises';
import type { S3Client } from '@aws-sdk/client-s3';
import { isOfProxy } from './service-answer.ts';

const pauseMs = 500;
const pauseMsMax = 5_000;

interface RequestError extends Error {
  code?: unknown;
  $metadata?: { httpStatusCode?: number };
}

const networkCodes = new Set<unknown>([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  // The name was resolved before: an outage of DNS.
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);

/**
 * A request is repeated for `ms`. An abort ends it at its next attempt. Until a request has succeeded none is repeated: the address may be
 * wrong.
 */
export const outlastOutages = (client: S3Client, ms: number): void => {
  let hasSucceeded = false;
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const until = performance.now() + ms;
        for (let round = 0; ; round++) {
          const pause = Math.min(pauseMs * 2 ** round, pauseMsMax);
          try {
            const result = await next(args);
            hasSucceeded = true;
            const { $metadata } = result.output;
            // The sum tells the caller that an earlier attempt may have been carried out.
            $metadata.attempts = ($metadata.attempts ?? 1) + round;
            return result;
          } catch (error) {
            if (
              !hasSucceeded ||
              !isOutage(error as RequestError, commandName) ||
              performance.now() + pause > until
            )
              throw error;
          }
          await sleep(pause);
        }
      },
    { step: 'initialize', name: 'outlastOutages' },
  );
};

const isOutage = (error: RequestError, command: string | undefined): boolean => {
  const { name, code, $metadata } = error;
  const status = $metadata?.httpStatusCode;
  if (isOfProxy(error)) return command !== 'HeadObjectCommand';
  if (status !== undefined) return status >= 500 && status !== 501;
  return name === 'TimeoutError' || networkCodes.has(code);
};
