/** A receiver that is down fails every few seconds. */
const periodMs = 60_000;

export interface WarningLog {
  warn(fields: object, message: string): void;
}

/** Logs failures at most once in a period, with the number of failures since the last line. */
export class FailureLog {
  readonly #message: string;
  readonly #url: string;
  readonly #logger: WarningLog;
  #failures = 0;
  #loggedMs = -Infinity;

  constructor(message: string, url: string, logger: WarningLog) {
    this.#message = message;
    this.#url = url;
    this.#logger = logger;
  }

  report(error: unknown): void {
    this.#failures += 1;
    const now = performance.now();
    if (now - this.#loggedMs < periodMs) return;
    // The message only: other fields of the error contain the body of the response.
    const fields = { url: this.#url, failures: this.#failures, error: messageOf(error) };
    this.#logger.warn(fields, this.#message);
    this.#failures = 0;
    this.#loggedMs = now;
  }
}

const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as { code?: unknown };
  return typeof code === 'number' || typeof code === 'string' ? `${error.message} (${code})` : error.message;
};
