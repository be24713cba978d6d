import { problems, type Fault, type ProblemBody, type ProblemCode } from '@svc/contract/problem';

const retryable = new Set<number>([408, 429, 503]);

/** An error response. `detail` is its message, or the list of faults that the server found in the request. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: ProblemCode | undefined;
  readonly detail: string | Fault[];
  readonly requestId: string | undefined;

  constructor(status: number, body: Partial<ProblemBody>, requestId: string | undefined) {
    super(`${status}: ${body.message ?? 'no message'}`);
    this.name = 'ApiError';
    this.status = status;
    this.code = body.code !== undefined && body.code in problems ? body.code : undefined;
    this.detail = body.detail ?? body.message ?? '';
    this.requestId = body.request_id ?? requestId;
  }

  /** True when the same request may succeed later. */
  get retryable(): boolean {
    return retryable.has(this.status);
  }
}

/** `runs.wait` and `runs.join` throw this when the run has failed. */
export class RunError extends Error {
  /** The class name of the error that the graph threw. */
  readonly error: string;

  constructor(failure: { error: string; message: string }) {
    super(failure.message);
    this.name = 'RunError';
    this.error = failure.error;
  }
}
