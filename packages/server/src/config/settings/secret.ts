import { inspect } from 'node:util';

const shown = '[redacted]';

/** A value that no print, log or JSON shows: only `reveal()` does. */
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

/** A database URI fit to be shown: the password, in either place where a URI may hold one, is hidden. */
export function withoutPassword(uri: string): string {
  return uri
    .replace(/^([a-z]+:\/\/[^:/?#]*):.*@(?=[^@]*$)/i, `$1:${shown}@`)
    .replace(/([?&](?:password|sslpassword)=)[^&#]*/gi, `$1${shown}`);
}
