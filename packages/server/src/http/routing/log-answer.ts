import type { HttpLogger } from '../server/problem.ts';
import { logRequest, type RequestEntry, type StartRequestSpan } from '../server/request-log.ts';
import type { HttpContext } from './call.ts';

/** Logs a request that no handler has answered, or reports it to the part of the program that logs it. */
export const logAnswer = (
  context: HttpContext,
  entry: RequestEntry,
  { logger, startSpan }: { logger: HttpLogger; startSpan?: StartRequestSpan | undefined },
): void => {
  const { onAnswer } = context.env?.outer ?? {};
  if (onAnswer) return onAnswer(entry);
  const span = startSpan?.(context.req.method, (name) => context.req.header(name));
  span?.end(entry);
  logRequest(logger, context.req.method, { ...entry, ids: span?.ids });
};
