import { randomUUID } from 'node:crypto';
import { Problem } from '@svc/contract/problem';
import { type HttpLogger, problemResponse } from './problem.ts';

/** Makes the responses to requests whose host or URL cannot be parsed. The adapter has no request to pass on then. */
export const malformedTarget =
  (logger: HttpLogger) =>
  (cause: unknown): Response =>
    problemResponse(
      new Problem('bad_request', 'The URL or the Host header of the request is malformed.', { cause }),
      randomUUID(),
      logger,
    );
