// The only place that turns errors into responses.
import { HTTPException } from 'hono/http-exception';
import { codeOfStatus, Problem, type ProblemBody, type ProblemCode, problems } from '@svc/contract/problem';
import { Refusal } from '../../auth/authorization/refusal.ts';
import { jsonHeaders } from './headers.ts';

/** What this layer writes to: pino fits. */
export interface HttpLogger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Seconds after which a client may try again when the database is away, or there is too much to do. */
const retrySeconds = 2;

/** A Problem with a status that says more than its code does. */
export class HttpProblem extends Problem {
  readonly status: number;

  constructor(status: number, code: ProblemCode, message: string) {
    super(code, message);
    this.status = status;
  }
}

/** Any thrown value as a Problem; what we do not know is `internal` and says nothing about itself. */
export const toProblem = (error: unknown): Problem => {
  if (error instanceof Problem) return error;
  if (error instanceof HTTPException) {
    const code = codeOfStatus(error.status) ?? (error.status < 500 ? 'bad_request' : 'internal');
    return new Problem(code, error.message || problems[code].title, { cause: error });
  }
  return new Problem('internal', 'The server made a mistake; its log has the details.', { cause: error });
};

export const problemBody = (problem: Problem, requestId: string): ProblemBody => ({
  detail: problem.faults ?? problem.message,
  message: problem.message,
  code: problem.code,
  request_id: requestId,
});

/** Faults of the server go to the log with their cause, and to the client without. */
export const logProblem = (problem: Problem, requestId: string, logger: HttpLogger): void => {
  // Without a cause it is a state that we know of (no worker, stopping), and nothing went wrong.
  if (problem.code === 'unavailable' && problem.cause === undefined) {
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

/** What answers an error. `headers` may add (`Allow`), `status` refine what the code says (414 for 413). */
export const problemParts = (
  error: unknown,
  requestId: string,
  logger: HttpLogger,
  extra: { headers?: Record<string, string>; status?: number } = {},
): ProblemParts => {
  const problem = toProblem(error);
  logProblem(problem, requestId, logger);
  const headers: Record<string, string> = { ...jsonHeaders, 'x-request-id': requestId, ...extra.headers };
  const isPassing = problem.code === 'unavailable' || problem.code === 'rate_limited';
  const retryAfter = problem.retryAfterSeconds ?? (isPassing ? retrySeconds : undefined);
  if (retryAfter !== undefined) headers['retry-after'] = String(retryAfter);
  // An auth handler's own answer goes out as it gave it.
  const refusal = problem instanceof Refusal ? problem : undefined;
  Object.assign(headers, refusal?.headers);
  const refined = problem instanceof HttpProblem ? problem.status : refusal?.status;
  const status = extra.status ?? refined ?? problems[problem.code].status;
  return { status, headers, text: JSON.stringify(problemBody(problem, requestId)) };
};

export const problemResponse = (...given: Parameters<typeof problemParts>): Response => {
  const { text, ...head } = problemParts(...given);
  return new Response(text, head);
};
