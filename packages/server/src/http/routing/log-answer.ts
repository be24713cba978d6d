import type { HttpLogger } from '../server/problem.ts';
import { logRequest, type RequestEntry } from '../server/request-log.ts';
import type { HttpContext } from './call.ts';

/** Logs a request, or reports it to the part of the program that logs it. */
export const logAnswer = (context: HttpContext, entry: RequestEntry, logger: HttpLogger): void => {
  const { onAnswer } = context.env?.outer ?? {};
  if (onAnswer) onAnswer(entry);
  else logRequest(logger, context.req.method, entry);
};
