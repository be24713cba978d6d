// The one table of errors: what a code means and which HTTP status it travels with. Imports nothing, so
// that the SDK can carry it into a browser.

export const problems = {
  bad_request: { status: 400, title: 'The request cannot be read' },
  unauthenticated: { status: 401, title: 'Who you are is not known' },
  forbidden: { status: 403, title: 'You may not do this' },
  not_found: { status: 404, title: 'There is no such thing, or it is not yours' },
  method_not_allowed: { status: 405, title: 'This path does not take this method' },
  timeout: { status: 408, title: 'The request took too long to arrive' },
  conflict: { status: 409, title: 'The request does not fit the present state' },
  too_large: { status: 413, title: 'The request body is over the limit' },
  unsupported_media_type: { status: 415, title: 'The body is not JSON' },
  misdirected: { status: 421, title: 'This server does not answer for this host' },
  invalid: { status: 422, title: 'The request is understood and does not make sense' },
  rate_limited: { status: 429, title: 'Too many requests' },
  internal: { status: 500, title: 'A fault of the server' },
  not_supported: { status: 501, title: 'This server does not offer this' },
  unavailable: { status: 503, title: 'The server cannot do this at the moment' },
} as const;

export type ProblemCode = keyof typeof problems;

const codes = Object.keys(problems) as ProblemCode[];

/** The code that travels with a status; undefined when none does. */
export const codeOfStatus = (status: number): ProblemCode | undefined =>
  codes.find((code) => problems[code].status === status);

/** One fault of a validated request: where it is, what is wrong, and its kind. */
export interface Fault {
  loc: (string | number)[];
  msg: string;
  type: string;
}

/** The body of every error response. */
export interface ProblemBody {
  detail: string | Fault[];
  message: string;
  code: ProblemCode;
  request_id: string;
}

/**
 * An error with a meaning. `message` (and `faults`) is written for the caller and safe to show; `cause` is for the log.
 */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly faults: Fault[] | undefined;
  /** When it makes sense to ask again. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: ProblemCode,
    message: string,
    options?: { cause?: unknown; faults?: Fault[]; retryAfterSeconds?: number },
  ) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Problem';
    this.code = code;
    this.faults = options?.faults;
    this.retryAfterSeconds = options?.retryAfterSeconds;
  }
}

/** The same sentence whether the thing is missing or belongs to someone else. */
export const notFound = (noun: string, id: string): Problem =>
  new Problem('not_found', `${noun} ${JSON.stringify(id)} was not found`);

export const invalid = (loc: (string | number)[], msg: string, type = 'value_error'): Problem =>
  new Problem('invalid', msg, { faults: [{ loc, msg, type }] });
