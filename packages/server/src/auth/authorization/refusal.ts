// The HTTPException of an auth handler, which is passed on to the client.
import { codeOfStatus, Problem } from '@svc/contract/problem';

export class Refusal extends Problem {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Record<string, string>, cause: unknown) {
    super(codeOfStatus(status) ?? (status < 500 ? 'forbidden' : 'internal'), message, { cause });
    this.status = status;
    this.headers = headers;
  }
}

const token = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;
const visible = /^[\t\x20-\x7e\x80-\xff]*$/;
const messageMax = 1_000;

/** By the name of its class or of a base class. A status alone is not sufficient, since errors of HTTP clients have one too. */
const isHttpException = (error: unknown): error is Error & { status: unknown } => {
  if (!(error instanceof Error) || !('status' in error)) return false;
  let prototype: unknown = Object.getPrototypeOf(error);
  while (prototype instanceof Error) {
    if (prototype.constructor.name === 'HTTPException') return true;
    prototype = Object.getPrototypeOf(prototype);
  }
  return false;
};

/**
 * Converts the stock `HTTPException`, from any copy of its package, into a Refusal. Undefined for other errors, whose message and headers
 * may come from another service. Invalid headers are left out.
 */
export const toRefusal = (error: unknown): Refusal | undefined => {
  if (!isHttpException(error)) return undefined;
  const { status, message } = error;
  if (typeof status !== 'number' || !Number.isInteger(status) || status < 400 || status > 599)
    return undefined;
  const given = 'headers' in error ? error.headers : undefined;
  const entries =
    given instanceof Headers ? [...given] : Object.entries((given ?? {}) as Record<string, unknown>);
  const headers = entries
    .filter(([name, value]) => token.test(name) && visible.test(String(value)))
    .map(([name, value]) => [name.toLowerCase(), String(value)] as const)
    .filter(([name]) => !ownHeaders.has(name));
  return new Refusal(status, message.slice(0, messageMax), Object.fromEntries(headers), error);
};

/** Headers that frame a response. */
const ownHeaders = new Set(['content-type', 'content-length', 'transfer-encoding', 'connection']);
