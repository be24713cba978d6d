// What a handler made of a request is checked as if it had come so: handlers may change everything, also by mistake.
import type { AuthEvent } from '@svc/contract';
import { Problem } from '@svc/contract/problem';
import type { z } from 'zod';
import { AuthHandlerError } from './handler-call.ts';

/** Throws `internal`, with what is wrong for the log: it is no fault of the client. */
export const checked = <T extends z.ZodType>(event: AuthEvent, schema: T, value: unknown): z.output<T> => {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new Problem('internal', `The auth handler for ${event} changed the request into something invalid.`, {
    cause: new AuthHandlerError(`${issue?.path.join('.')}: ${issue?.message}`),
  });
};
