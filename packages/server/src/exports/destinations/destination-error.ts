/** A destination did not take what it was given. The message is fit to be shown: no secret, no address, no stack. */
export class DestinationError extends Error {
  override readonly name = 'DestinationError';
  /** The error code of the service, such as `AccessDenied`, or one of the system, such as `ENOSPC`. */
  readonly code: string;
  /** Whether trying again would change nothing. */
  readonly isFinal: boolean;

  constructor(
    message: string,
    { code, isFinal, cause }: { code: string; isFinal: boolean; cause?: unknown },
  ) {
    super(message, { cause });
    this.code = code;
    this.isFinal = isFinal;
  }
}

/** There is an object under the key already. */
export class StoreConflict extends Error {
  override readonly name = 'StoreConflict';
}
