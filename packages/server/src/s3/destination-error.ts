/** An operation on a destination failed. The message is safe to show to users: it has no secrets, addresses or stacks. */
export class DestinationError extends Error {
  override readonly name = 'DestinationError';
  /** The error code of the service, such as `AccessDenied`, or of the system, such as `ENOSPC`. */
  readonly code: string;
  /** True when a retry would fail in the same way. */
  readonly isFinal: boolean;
  /** Of the response of the service. */
  readonly status: number | undefined;

  constructor(
    message: string,
    {
      code,
      isFinal,
      status,
      cause,
    }: { code: string; isFinal: boolean; status?: number | undefined; cause?: unknown },
  ) {
    super(message, { cause });
    this.code = code;
    this.isFinal = isFinal;
    this.status = status;
  }
}

/** The key already has an object. */
export class StoreConflict extends Error {
  override readonly name = 'StoreConflict';
}
