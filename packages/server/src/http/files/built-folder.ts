// How the server answers requests for the files of a folder that a build has written: the console and the guide.
import type { Hono } from 'hono';
import type { HttpContext, HttpEnv } from '../routing/call.ts';
import { logAnswer } from '../routing/log-answer.ts';
import type { StartRequestSpan } from '../routing/request-span.ts';
import type { HttpLogger } from '../server/problem.ts';

export interface BuiltFolderOptions {
  /** The folder that the build writes; it ends with a slash. */
  folder: URL;
  logger: HttpLogger;
  startSpan?: StartRequestSpan | undefined;
  pathOf: (request: Request, env: HttpEnv['Bindings'] | undefined) => string;
  idOf: (context: HttpContext) => string;
}

/** Mounts `respond` at `path` and below it. Each response gets its request id, and is logged. */
export const mountBuiltFolder = (
  app: Hono<HttpEnv>,
  path: string,
  options: BuiltFolderOptions,
  respond: (context: HttpContext, requestId: string) => Promise<Response>,
): void => {
  const handle = async (context: HttpContext): Promise<Response> => {
    const startedMs = performance.now();
    const requestId = options.idOf(context);
    const response = await respond(context, requestId);
    response.headers.set('x-request-id', requestId);
    const entry = { route: `${path}/*`, requestId, startedMs, status: response.status };
    logAnswer(context, entry, options);
    return response;
  };
  app.get(path, handle);
  app.get(`${path}/*`, handle);
};
