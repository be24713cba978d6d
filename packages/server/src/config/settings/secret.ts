import { inspect } from 'node:util';

const shown = '[redacted]';

/** A value that does not appear in output, logs or JSON. `reveal()` returns it. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return shown;
  }

  toJSON(): string {
    return shown;
  }

  [inspect.custom](): string {
    return shown;
  }
}

/** A database URI with its password redacted, in both places where a URI may have one. */
export function withoutPassword(uri: string): string {
  return uri
    .replace(/^([a-z]+:\/\/[^:/?#]*):.*@(?=[^@]*$)/i, `$1:${shown}@`)
    .replace(/([?&](?:password|sslpassword)=)[^&#]*/gi, `$1${shown}`);
}
