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

/** What the stock HTTPException has beyond an Error. Bundlers shorten the name of its class, so the name says nothing. */
const ownFields = new Set(['status', 'headers', 'message', 'stack', 'cause', 'name']);

/** Errors of HTTP clients have a status and headers too, with further fields; they may contain secrets of another service. */
const isHttpException = (error: unknown): error is Error & { status: unknown; headers: unknown } => {
  if (!(error instanceof Error) || !('status' in error && 'headers' in error)) return false;
  for (let of: unknown = error; of instanceof Error; of = Object.getPrototypeOf(of))
    if (of.constructor.name === 'HTTPException') return true;
  return Object.getOwnPropertyNames(error).every((name) => ownFields.has(name));
};

/**
 * Converts the stock `HTTPException` into a Refusal, from any copy of its package, and if a bundler has renamed the class. Returns undefined
 * for other errors, because their message and headers may come from another service. Invalid headers are left out.
 */
export const toRefusal = (error: unknown): Refusal | undefined => {
  if (!isHttpException(error)) return undefined;
  const { status, message } = error;
  if (typeof status !== 'number' || !Number.isInteger(status) || status < 400 || status > 599)
    return undefined;
  const given = error.headers;
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
