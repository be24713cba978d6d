// The table of error codes with their HTTP statuses. It imports nothing, so that browsers can load it with the SDK.

export const problems = {
  bad_request: { status: 400, title: 'The request cannot be parsed' },
  unauthenticated: { status: 401, title: 'Authentication failed or is missing' },
  forbidden: { status: 403, title: 'Not allowed' },
  not_found: { status: 404, title: 'Not found, or not visible to you' },
  method_not_allowed: { status: 405, title: 'The path does not support this method' },
  timeout: { status: 408, title: 'The request took too long to arrive' },
  conflict: { status: 409, title: 'The request conflicts with the current state' },
  too_large: { status: 413, title: 'The request body is over the limit' },
  unsupported_media_type: { status: 415, title: 'The body is not JSON' },
  misdirected: { status: 421, title: 'The server does not serve this host' },
  invalid: { status: 422, title: 'Validation failed' },
  rate_limited: { status: 429, title: 'Too many requests' },
  internal: { status: 500, title: 'Internal error' },
  not_supported: { status: 501, title: 'Not supported by this server' },
  unavailable: { status: 503, title: 'The server is temporarily unable to do this' },
} as const;

export type ProblemCode = keyof typeof problems;

const codes = Object.keys(problems) as ProblemCode[];

/** The code of an HTTP status; undefined when no code has it. */
export const codeOfStatus = (status: number): ProblemCode | undefined =>
  codes.find((code) => problems[code].status === status);

/** One fault of a request: its place, the message, and the kind of fault. */
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
 * An error for the client. `message` and `faults` are sent to the client; `cause` is only logged.
 */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly faults: Fault[] | undefined;
  /** Seconds after which the client may repeat the request. */
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

/** The message begins with the text of the stock server. It is the same if the object does not exist and if it is not visible to the caller. */
export const notFound = (noun: string, id: string): Problem =>
  new Problem('not_found', `${noun} not found: ${JSON.stringify(id)}`);

export const invalid = (loc: (string | number)[], msg: string, type = 'value_error'): Problem =>
  new Problem('invalid', msg, { faults: [{ loc, msg, type }] });
