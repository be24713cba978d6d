import { Problem } from '@svc/contract/problem';

export type PathKey = string | number;

/** The path of a part of a value, in JavaScript notation: `messages[3].artifact["a b"]`. */
export const pathText = (name: string, path: readonly PathKey[]): string =>
  path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    return /^[A-Za-z_$][\w$]*$/.test(key) ? `${text}.${key}` : `${text}[${JSON.stringify(key)}]`;
  }, name);

/** A value that cannot be stored or sent. The message contains the path of the part. */
export class CodecError extends Problem {
  readonly path: string;

  constructor(path: string, reason: string, options?: { cause?: unknown }) {
    super('invalid', `${path} ${reason}`, options);
    this.name = 'CodecError';
    this.path = path;
  }
}

/** Stored data is inconsistent: an internal error, not one of the caller. */
export const damaged = (what: string, cause?: unknown): Problem =>
  new Problem('internal', `A stored value is damaged: ${what}`, { cause });
