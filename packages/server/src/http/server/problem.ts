// Converts errors to responses; no other file does.
import { randomUUID } from 'node:crypto';
import { HTTPException } from 'hono/http-exception';
import { codeOfStatus, Problem, type ProblemBody, type ProblemCode, problems } from '@svc/contract/problem';
import { Refusal } from '../../auth/authorization/refusal.ts';
import { rpcCodes, rpcError, RpcProblem } from '../../api/json-rpc.ts';
import { jsonHeaders } from './headers.ts';

/** The logger of the HTTP layer; pino implements it. */
export interface HttpLogger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Seconds after which a client may try again when the database is unavailable, or the server is overloaded. */
const retrySeconds = 2;

/** A Problem whose status is more specific than that of its code. */
export class HttpProblem extends Problem {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: ProblemCode, message: string, headers: Record<string, string> = {}) {
    super(code, message);
    this.status = status;
    this.headers = headers;
  }
}

export const statusOf = (problem: Problem): number =>
  problem instanceof HttpProblem || problem instanceof Refusal
    ? problem.status
    : problems[problem.code].status;

/** Converts a thrown value to a Problem. Unknown errors become `internal`, without details. */
export const toProblem = (error: unknown): Problem => {
  if (error instanceof Problem) return error;
  if (error instanceof HTTPException) {
    const code = codeOfStatus(error.status) ?? (error.status < 500 ? 'bad_request' : 'internal');
    return new Problem(code, error.message || problems[code].title, { cause: error });
  }
  return new Problem('internal', 'Internal server error; see the log of the server.', { cause: error });
};

export const problemBody = (problem: Problem, requestId: string): ProblemBody => ({
  detail: problem.faults ?? problem.message,
  message: problem.message,
  code: problem.code,
  request_id: requestId,
});

/** True when something that the server needs, such as the database, did not answer. Without a cause it is an expected state: no worker, stopping. */
export const isOutage = ({ code, cause }: Problem): boolean => code === 'unavailable' && cause !== undefined;

/** Errors of the server are logged with their cause, which the client does not get. */
export const logProblem = (problem: Problem, requestId: string, logger: HttpLogger): void => {
  if (problem.code === 'unavailable' && !isOutage(problem)) {
    logger.info({ code: problem.code, request_id: requestId }, problem.message);
  } else if (problems[problem.code].status >= 500 && problem.code !== 'not_supported') {
    logger.error(
      { err: problem.cause ?? problem, code: problem.code, request_id: requestId },
      problem.message,
    );
  }
};

interface ProblemParts {
  status: number;
  headers: Record<string, string>;
  text: string;
}

/** The code in a JSON-RPC response. The error occurred before the message was read, or is one of the server. */
const rpcCodeOf = (problem: Problem): number => {
  if (problem instanceof RpcProblem) return problem.rpcCode;
  if (problem.code === 'bad_request') return rpcCodes.parseError;
  return problems[problem.code].status < 500 ? rpcCodes.invalidRequest : rpcCodes.internalError;
};

/**
 * The parts of the response to an error. `headers`: further headers (`Allow`). `status`: replaces that of the code (414 for 413). `isRpc`:
 * the body is a JSON-RPC response.
 */
export const problemParts = (
  error: unknown,
  requestId: string,
  logger: HttpLogger,
  extra: { headers?: Record<string, string>; status?: number; isRpc?: boolean } = {},
): ProblemParts => {
  const problem = toProblem(error);
  logProblem(problem, requestId, logger);
  const headers: Record<string, string> = { ...jsonHeaders, 'x-request-id': requestId, ...extra.headers };
  const isTemporary = problem.code === 'unavailable' || problem.code === 'rate_limited';
  const retryAfter = problem.retryAfterSeconds ?? (isTemporary ? retrySeconds : undefined);
  if (retryAfter !== undefined) headers['retry-after'] = String(retryAfter);
  // Stock clients repeat every 5xx otherwise, four times.
  if (problem.code === 'not_supported') headers['x-should-retry'] = 'false';
  // A response that an auth handler defined is sent unchanged.
  if (problem instanceof Refusal || problem instanceof HttpProblem) Object.assign(headers, problem.headers);
  const status = extra.status ?? statusOf(problem);
  const body = problemBody(problem, requestId);
  const text =
    extra.isRpc === true ? rpcError(null, rpcCodeOf(problem), body.message, body) : JSON.stringify(body);
  return { status, headers, text };
};

export const problemResponse = (...given: Parameters<typeof problemParts>): Response => {
  const { text, ...head } = problemParts(...given);
  return new Response(text, head);
};

/** Makes the responses to requests whose host or URL cannot be parsed. The adapter has no request to pass on then. */
export const malformedTarget =
  (logger: HttpLogger) =>
  (cause: unknown): Response =>
    problemResponse(
      new Problem('bad_request', 'The URL or the Host header of the request is malformed.', { cause }),
      randomUUID(),
      logger,
    );
