import { probePaths } from '../server/probe-paths.ts';
import type { RequestCall } from './call.ts';
import type { RequestSpan, StartRequestSpan } from './request-span.ts';

/** The span of a built-in route. Behind the project's app, the span is that of the client's request. Requests of probes have none. */
export const spanOf = (
  call: RequestCall,
  { method, route }: { method: string; route: string },
  start: StartRequestSpan | undefined,
): RequestSpan | undefined => {
  if (call.outer?.onAnswer) return call.outer.span;
  return probePaths.has(route) ? undefined : start?.(method, (name) => call.header(name));
};
