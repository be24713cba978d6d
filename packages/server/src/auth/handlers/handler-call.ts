// Calls the project's auth handlers with a time limit. The details of an error are logged, and not sent to the client.
import { Problem } from '@svc/contract/problem';
import { toRefusal } from '../authorization/refusal.ts';

/** A bug in an auth handler. The client learns only that there was one. */
export class AuthHandlerError extends Error {
  override readonly name = 'AuthHandlerError';
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';

const inTime = (answer: PromiseLike<unknown>, timeoutMs: number): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Problem('unavailable', 'The auth handler timed out')),
      timeoutMs,
    );
    timer.unref();
    answer.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error as Error);
      },
    );
  });

/**
 * Returns the result of the handler. Throws a Refusal for its HTTPException, `unavailable` when it exceeds the time limit, and `internal`
 * for any other error, with the cause for the log.
 */
export const callHandler = async <T>(
  name: string,
  timeoutMs: number,
  call: () => unknown,
  read: (answer: unknown) => T,
): Promise<T> => {
  try {
    const answer = call();
    return read(isThenable(answer) ? await inTime(answer, timeoutMs) : answer);
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw (
      toRefusal(error) ??
      new Problem('internal', `The auth handler ${name} failed; see the log of the server.`, {
        cause: error,
      })
    );
  }
};
