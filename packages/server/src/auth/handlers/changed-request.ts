// Validates a request again after an auth handler, which may change it in any way.
import type { AuthEvent } from '@svc/contract';
import { Problem } from '@svc/contract/problem';
import type { z } from 'zod';
import { AuthHandlerError } from './handler-call.ts';

/** Throws `internal` with the reason for the log, since it is not the client's fault. */
export const checked = <T extends z.ZodType>(event: AuthEvent, schema: T, value: unknown): z.output<T> => {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new Problem('internal', `The auth handler for ${event} changed the request into something invalid.`, {
    cause: new AuthHandlerError(`${issue?.path.join('.')}: ${issue?.message}`),
  });
};
